/**
 * A scripted UCI engine for tests of the GUI's side, run as a process of its own. It plays a legal move that depends only
 * on the position and `--seed`, at once, with MultiPV scores. Arguments make it misbehave at the n-th `go` (from 1):
 *
 *   --seed=N  --name=TEXT  --score=CP (always this score)  --think=MS
 *   --hold-while=FILE (no answer while there is such a file, from the game of this process on whose number it holds)
 *   --crash-at=N (exit 3)  --crash-at-game=N (at the n-th ucinewgame)  --hang-at=N (silence)  --illegal-at=N (a1a1)  --mute (no uciok)
 */
import { existsSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { createPrng, unwrap } from '#sardonyx/base/util/index.js';
import { formatUciMove, type Move, Position, parseFen, parseUciMove } from '#sardonyx/chess/rules/index.js';

const settings = new Map(
  process.argv.slice(2).map((word) => word.replace(/^--/, '').split('=', 2) as [string, string]),
);
const numberOf = (name: string): number => Number(settings.get(name) ?? Number.NaN);
const say = (line: string): void => void process.stdout.write(`${line}\n`);

let position = new Position();
let multiPv = 1;
let searches = 0;
let games = 0;
let isChess960 = false;

function setPosition(words: string[]): void {
  const moves = words.indexOf('moves');
  const end = moves < 0 ? words.length : moves;
  position = words[1] === 'startpos' ? new Position() : unwrap(parseFen(words.slice(2, end).join(' ')));
  for (const text of words.slice(end + 1)) position.makeMove(unwrap(parseUciMove(position, text)));
}

function crash(): never {
  process.stderr.write('out of luck\n');
  process.exit(3);
}

function go(): void {
  searches++;
  if (searches === numberOf('crash-at')) crash();
  if (searches === numberOf('hang-at')) return;
  if (searches === numberOf('illegal-at')) {
    say('bestmove a1a1');
    return;
  }
  const prng = createPrng(position.keyLow ^ (settings.has('seed') ? numberOf('seed') : 1));
  const legal = new Uint16Array(256);
  const moves = [...legal.subarray(0, position.generateLegalMoves(legal))] as Move[];
  const first = prng.nextBelow(moves.length);
  const ranked = [...moves.slice(first), ...moves.slice(0, first)].map((move) => formatUciMove(move, isChess960));
  const answer = (): void => {
    for (const [i, move] of ranked.slice(0, multiPv).entries()) {
      const score = settings.has('score') ? numberOf('score') : 50 - 10 * i;
      say(`info depth 1 seldepth 1 multipv ${i + 1} score cp ${score} nodes 10 nps 1000 time 1 pv ${move}`);
    }
    say(`bestmove ${ranked[0]}`);
  };
  const held = settings.get('hold-while');
  const answerUnlessHeld = (): void => {
    if (held !== undefined && existsSync(held) && games >= Number(readFileSync(held, 'utf8')))
      setTimeout(answerUnlessHeld, 20);
    else answer();
  };
  if (settings.has('think')) setTimeout(answerUnlessHeld, numberOf('think'));
  else answerUnlessHeld();
}

for await (const line of createInterface({ input: process.stdin })) {
  const words = line.trim().split(/\s+/);
  if (words[0] === 'uci') {
    say(`id name ${settings.get('name') ?? 'Fake'}`);
    say('option name MultiPV type spin default 1 min 1 max 500');
    say('option name UCI_Chess960 type check default false');
    if (!settings.has('mute')) say('uciok');
  } else if (words[0] === 'isready') say('readyok');
  else if (words[0] === 'setoption' && words[2] === 'MultiPV') multiPv = Number(words[4]);
  else if (words[0] === 'setoption' && words[2] === 'UCI_Chess960') isChess960 = words[4] === 'true';
  else if (words[0] === 'ucinewgame') {
    if (++games === numberOf('crash-at-game')) crash();
  } else if (words[0] === 'position') setPosition(words);
  else if (words[0] === 'go') go();
  else if (words[0] === 'quit') break;
}
process.exit(0);
