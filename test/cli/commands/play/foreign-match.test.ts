/** Command lines of fastchess and cutechess-cli: nothing is played, and ours is shown. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { translateMatch } from '#sardonyx/cli/commands/play/foreign-match.js';
import { runCommand } from '../../../support/run-command.js';

/** The command that is shown for these words. */
function translate(...words: string[]): string {
  return translateMatch(words)?.[2].trim() ?? '';
}

test('every common flag of fastchess has its place in ours', () => {
  const command = translate(
    ...['-engine', 'cmd=/opt/sf 17/stockfish', 'name=SF', 'option.Hash=64', 'proto=uci', 'args=--bench -x'],
    ...['-engine', 'cmd=lc0', 'name=Lc0', 'dir=/nets', '-each', 'tc=10+0.1', 'timemargin=20', 'option.Threads=1'],
    ...['-rounds', '50', '-games', '2', '-repeat', '-concurrency', '4'],
    ...['-openings', 'file=UHO 4060.epd', 'format=epd', 'order=random', 'plies=16'],
    ...['-pgnout', 'file=out.pgn', '-sprt', 'elo0=0', 'elo1=5', 'alpha=0.05', 'beta=0.05'],
    ...['-resign', 'movecount=3', 'score=600', '-draw', 'movenumber=40', 'movecount=8', 'score=10'],
    ...['-maxmoves', '150', '-recover', '-srand', '7', '-ratinginterval', '10', '-event', 'My match', '-tb', '/tb'],
    ...['-variant', 'fischerandom', '-tournament', 'gauntlet'],
  );
  assert.equal(
    command,
    `sardonyx match --engine "cmd='/opt/sf 17/stockfish' name=SF option.Hash=64 args='--bench -x'" ` +
      '--engine "cmd=lc0 name=Lc0 dir=/nets" --each "tc=10+0.1 option.Threads=1" --time-margin 20 --concurrency 4 ' +
      '--openings-pgn "UHO 4060.epd" --openings-plies 16 --pgnout out.pgn ' +
      '--sprt "elo0=0 elo1=5 alpha=0.05 beta=0.05" --resign "movecount=3 score=600" ' +
      '--draw "movenumber=40 movecount=8 score=10" --max-plies 300 --recover --seed 7 --rating-interval 10 ' +
      '--event "My match" --syzygy-paths /tb --chess960 --tournament gauntlet --games 100',
  );
});

test('cutechess-cli’s forms are read too, and a book that is not shuffled stays in order', () => {
  assert.equal(
    translate('-engine', 'cmd=a', '-engine', 'cmd=b', '-each', 'st=1', '-pgnout', 'games.pgn', 'min', '-games', '10'),
    'sardonyx match --engine cmd=a --engine cmd=b --each st=1 --pgnout games.pgn --games 10',
  );
  assert.match(translate('-openings', 'file=a.pgn'), /--openings-pgn a\.pgn --openings-mode sequential$/);
});

test('games are counted as both programs count them, where they differ', () => {
  const [, , command, , note] = translateMatch(['-engine', 'cmd=a', '-rounds', '30', '-repeat']) ?? [];
  assert.match(command, /--games 60$/);
  assert.match(note, /fastchess plays 2 games a round, so 60, and cutechess-cli 1, so --games 30;/);
});

test('what has no translation is named, and what goes without saying is not', () => {
  const lines = translateMatch([
    ...['-engine', 'conf=SF', 'plies=4', '-log', 'file=x.log', '-openings', 'file=b.pgn', 'start=9', 'order=random'],
    ...['-noswap', '-repeat', '2', '-variant', 'standard', '-tournament', 'roundrobin'],
  ]);
  assert.equal(
    lines?.at(-1),
    'Left out, because Sardonyx has nothing like it: conf=SF, plies=4, log file=x.log, start=9, noswap',
  );
});

test('our own command line is none of theirs', () => {
  assert.equal(translateMatch(['--engine', 'random', '--engine', 'cmd=x arg=-each', '--games', '-2']), null);
});

test('match with flags of one dash plays nothing and ends with status 1', async () => {
  const words = ['-engine', 'cmd=random', '--engine', 'random', '-each', 'tc=1+0', '-rounds', '1'];
  const { status, stdout, stderr } = await runCommand(['match', ...words]);
  assert.deepEqual([status, stdout], [1, '']);
  assert.match(stderr, /Nothing was played[^\n]*\n\n {2}sardonyx match --engine cmd=random --engine random --each/);
});
