/**
 * Matches: `sardonyx match` in processes of their own, over its own files, so that either can take over from the other. A match
 * is three files of one name: the arguments (.json), the results (.jsonl) and the games (.pgn). Pausing ends the process; going
 * on starts it again with the same arguments.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { splitPgn } from '../../pgn/index.js';
import { createReport, type LoggedGame, parsePlayerWords, parseSprt, Standings } from '../../selfplay/index.js';
import { unwrap } from '../../util/index.js';
import type { MatchServices } from '../desk/page-session.js';
import type { MatchEntry, MatchState } from '../protocol/replies.js';
import type { RequestOf } from '../protocol/requests.js';
import type { OfferedNetworks } from './offered-networks.js';

const NAME = /^[\w-]{1,80}$/;
const RANDOM_MOVER = 'random';
/** Two copies of a deterministic player would repeat one game: networks draw their first moves. */
const VARIETY = 'temperature=0.7 tempdecay-moves=12';
const MOST_RUNNING = 2;
const STOP_PATIENCE_MS = 1500;
const PAUSE_PATIENCE_MS = 1000;

type MatchRequest = Omit<RequestOf<'startMatch'>, 'id' | 'type'>;

/** What the .json file of a match holds. */
interface SavedMatch {
  readonly players: readonly [string, string];
  readonly conditions: string;
  readonly total: number;
  readonly sprt: string | null;
  /** Of `sardonyx match`. */
  readonly args: readonly string[];
}

interface Run {
  readonly child: ChildProcess;
  errors: string;
  /** It was told to pause. */
  isStopping: boolean;
}

export class Matches implements MatchServices {
  readonly players: readonly string[];
  /** Player → the words of --engine. */
  private readonly words = new Map<string, string>();
  private readonly runs = new Map<string, Run>();
  private readonly problems = new Map<string, string>();

  constructor(
    private readonly folder: string,
    private readonly command: readonly string[],
    networks: OfferedNetworks,
    engines: readonly string[],
  ) {
    for (const { name } of networks.entries) {
      this.words.set(name, `weights="${networks.getValue(name)}" name="${name}" ${VARIETY}`);
    }
    for (const engine of engines) this.words.set(nameEngine(engine), engine);
    this.words.set(RANDOM_MOVER, 'random');
    this.players = [...this.words.keys()];
  }

  list(): readonly MatchEntry[] {
    if (!existsSync(this.folder)) return [];
    const names = readdirSync(this.folder)
      .filter((file) => file.endsWith('.json'))
      .map((file) => file.slice(0, -'.json'.length))
      .filter((name) => NAME.test(name));
    return names
      .sort()
      .reverse()
      .map((name) => ({ name, players: this.load(name).players, isRunning: this.runs.has(name) }));
  }

  read(name: string): MatchState {
    const { players: planned, conditions, total, sprt } = this.load(name);
    const games = this.readResults(name);
    const players = findNames(games) ?? planned;
    const standings = new Standings();
    for (const { game, result, reason } of games) standings.add(game, { result, reason });
    const report = createReport([players[0], players[1]], standings, sprt === null ? null : unwrap(parseSprt(sprt)));
    return {
      name,
      players,
      conditions,
      total,
      isRunning: this.runs.has(name),
      problem: this.problems.get(name) ?? '',
      games: games.map(({ white, black, result, reason, plies }) => ({ white, black, result, reason, plies })),
      elo:
        report.elo === null
          ? null
          : { elo: makeFinite(report.elo.elo), error: makeFinite(report.elo.eloError), los: report.elo.los },
      sprt: report.sprt,
    };
  }

  readGame(name: string, game: number): string {
    this.load(name);
    const path = this.getPath(name, 'pgn');
    const texts = existsSync(path) ? splitPgn(readFileSync(path)) : [];
    if (texts[game] === undefined) throw new Error('There is no such game yet');
    return texts[game].text;
  }

  start({ players, clock, nodes, games, sprt, chess960 }: MatchRequest): string {
    const words = players.map((player) => this.words.get(player));
    if (words.includes(undefined)) throw new Error('No player of that name is offered');
    mkdirSync(this.folder, { recursive: true });
    const name = new Date().toISOString().slice(0, 19).replaceAll(':', '-');
    if (existsSync(this.getPath(name, 'json'))) throw new Error('A match has just been started: wait a second');
    const test = sprt === null ? null : `elo0=${sprt.elo0} elo1=${sprt.elo1} model=logistic`;
    const limit = clock === null ? `nodes=${nodes}` : `tc=${clock.seconds}+${clock.increment}`;
    const own = players[0] === players[1] ? players.map((player, index) => `${player} ${index + 1}`) : players;
    const saved: SavedMatch = {
      players: [own[0], own[1]],
      conditions: [limit, ...(test === null ? [] : [`SPRT ${test}`]), ...(chess960 ? ['Chess960'] : [])].join(', '),
      total: games,
      sprt: test,
      args: [
        ...words.flatMap((word) => ['--engine', word as string]),
        ...['--each', limit, '--games', String(games), '--rating-interval', '0'],
        ...(test === null ? [] : ['--sprt', test]),
        ...(chess960 ? ['--chess960'] : []),
      ],
    };
    writeFileSync(this.getPath(name, 'json'), `${JSON.stringify(saved, null, 2)}\n`);
    this.resume(name);
    return name;
  }

  pause(name: string): void {
    const run = this.runs.get(name);
    if (run === undefined || run.isStopping) return;
    run.isStopping = true;
    run.child.kill('SIGINT');
    // A match outlives being killed: a game that was cut short is played again.
    const timer = setTimeout(() => run.child.kill('SIGKILL'), PAUSE_PATIENCE_MS);
    run.child.once('exit', () => clearTimeout(timer));
  }

  resume(name: string): void {
    if (this.runs.has(name)) return;
    if (this.runs.size >= MOST_RUNNING) throw new Error(`${MOST_RUNNING} matches run already: pause one first`);
    const { args } = this.load(name);
    const [program, ...first] = this.command;
    const files = ['--results', this.getPath(name, 'jsonl'), '--pgnout', this.getPath(name, 'pgn')];
    const child = spawn(program, [...first, 'match', ...args, ...files], { stdio: ['ignore', 'ignore', 'pipe'] });
    const run: Run = { child, errors: '', isStopping: false };
    this.runs.set(name, run);
    this.problems.delete(name);
    child.stderr?.on('data', (chunk) => {
      run.errors = `${run.errors}${chunk}`.slice(-2000);
    });
    child.on('error', (error) => this.end(name, error.message));
    child.on('exit', (status) => this.end(name, status === 0 || run.isStopping ? '' : run.errors.trim()));
  }

  async close(): Promise<void> {
    const children = [...this.runs.values()].map(({ child }) => child);
    const ends = children.map((child) => new Promise((resolve) => child.once('exit', resolve)));
    for (const name of this.runs.keys()) this.pause(name);
    await Promise.race([Promise.all(ends), new Promise((resolve) => setTimeout(resolve, STOP_PATIENCE_MS))]);
  }

  private end(name: string, problem: string): void {
    this.runs.delete(name);
    if (problem !== '') this.problems.set(name, problem.split('\n').at(-1) ?? problem);
  }

  private load(name: string): SavedMatch {
    if (!NAME.test(name) || !existsSync(this.getPath(name, 'json'))) throw new Error('There is no match of that name');
    try {
      return JSON.parse(readFileSync(this.getPath(name, 'json'), 'utf8'));
    } catch {
      throw new Error(`The match ${name} cannot be read`);
    }
  }

  /** Only whole lines: the last one may be under way. */
  private readResults(name: string): LoggedGame[] {
    const path = this.getPath(name, 'jsonl');
    if (!existsSync(path)) return [];
    const lines = readFileSync(path, 'utf8').split('\n').slice(1, -1);
    return lines.map((line) => JSON.parse(line) as LoggedGame);
  }

  private getPath(name: string, kind: 'json' | 'jsonl' | 'pgn'): string {
    return join(this.folder, `${name}.${kind}`);
  }
}

/** The players as the games call them, the first one first. */
function findNames([first]: readonly LoggedGame[]): readonly [string, string] | null {
  if (first === undefined) return null;
  return first.game % 2 === 0 ? [first.white, first.black] : [first.black, first.white];
}

function nameEngine(words: string): string {
  const pairs = parsePlayerWords(words);
  const find = (key: string): string | undefined =>
    pairs.ok ? pairs.value.findLast(([own]) => own === key)?.[1] : undefined;
  return find('name') ?? find('cmd')?.split(/[\\/]/).at(-1) ?? words;
}

/** JSON has no infinity: all games won, or lost. */
function makeFinite(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}
