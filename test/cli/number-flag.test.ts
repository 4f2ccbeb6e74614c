import assert from 'node:assert/strict';
import { test } from 'node:test';
import yargs, { type CommandModule } from 'yargs';
import { analyseCommand } from '#sardonyx/cli/commands/analyse/analyse.js';
import { backendBenchCommand } from '#sardonyx/cli/commands/backendbench.js';
import { benchCommand } from '#sardonyx/cli/commands/bench/bench.js';
import { labelCommand } from '#sardonyx/cli/commands/label/label.js';
import { leela2OnnxCommand } from '#sardonyx/cli/commands/leela2onnx-command.js';
import { matchCommand } from '#sardonyx/cli/commands/play/match-command.js';
import { selfPlayCommand } from '#sardonyx/cli/commands/play/selfplay.js';
import { shardsCommand } from '#sardonyx/cli/commands/shards.js';
import { suiteCommand } from '#sardonyx/cli/commands/suite/suite.js';
import { tuneCommand } from '#sardonyx/cli/commands/tune/tune.js';
import { numberFlag, wholeFlag } from '#sardonyx/cli/number-flag.js';

/** The flags of a command without its work; rejects with the sentence for the user. */
async function parse(command: object, args: readonly string[]): Promise<Record<string, unknown>> {
  return await yargs([...args])
    .command({ ...(command as CommandModule), command: '$0 [file..]', aliases: [], handler: () => undefined })
    .strict()
    .exitProcess(false)
    .fail((message: string | null, error: Error | undefined) => {
      throw error ?? new Error(message ?? '');
    })
    .parseAsync();
}

const wrong: [command: object, flag: string, sentence: string][] = [
  [matchCommand, '--games=abc', '--games must be a whole number from 1, not "abc"'],
  [matchCommand, '--games=-2', '--games must be a whole number from 1, not "-2"'],
  [matchCommand, '--games=2.5', '--games must be a whole number from 1, not "2.5"'],
  [matchCommand, '--games=', '--games must be a whole number from 1, not ""'],
  [matchCommand, '--visits=0', '--nodes must be a whole number from 1, not "0"'],
  [matchCommand, '--seed=abc', '--seed must be a whole number from 0, not "abc"'],
  [matchCommand, '--no-seed', '--seed must be a whole number from 0, not "false"'],
  [matchCommand, '--time-margin=abc', '--time-margin must be a whole number from 0, not "abc"'],
  [labelCommand, '--max-plies=abc', '--max-plies must be a whole number from 1, not "abc"'],
  [labelCommand, '--games=0', '--games must be a whole number from 1, not "0"'],
  [labelCommand, '--play-out=1.5', '--play-out must be a number from 0 to 1, not "1.5"'],
  [labelCommand, '--temperature=0', '--temperature must be a number above 0, not "0"'],
  [selfPlayCommand, '--games=0', '--games must be a whole number from 1, or -1 or -2, not "0"'],
  [selfPlayCommand, '--max-plies=abc', '--max-plies must be a whole number from 1, not "abc"'],
  [selfPlayCommand, '--full-search-share=2', '--full-search-share must be a number above 0, at most 1, not "2"'],
  [suiteCommand, '--nodes=-1', '--nodes must be a whole number from 0, not "-1"'],
  [suiteCommand, '--movetime=0', '--movetime must be a whole number from 1, not "0"'],
  [analyseCommand, '--movetime=-1', '--movetime must be a whole number from 0, not "-1"'],
  [benchCommand, '--num-positions=0', '--num-positions must be a whole number from 1, not "0"'],
  [backendBenchCommand, '--seconds=-1', '--seconds must be a number above 0, not "-1"'],
  [tuneCommand, '--seconds=0', '--seconds must be a number above 0, not "0"'],
  [shardsCommand, '--threads=many', '--threads must be a whole number from 1, not "many"'],
  [leela2OnnxCommand, '--onnx-opset=19', '--onnx-opset must be a whole number from 7 to 18, not "19"'],
];

for (const [command, flag, sentence] of wrong) {
  const [name] = [(command as CommandModule).command].flat();
  test(`${String(name).split(' ')[0]} ${flag} is refused in one sentence`, async () => {
    await assert.rejects(parse(command, [flag]), { message: sentence });
  });
}

test('numbers in range are taken by every name, the last of several, and defaults as they are', async () => {
  const command: Partial<CommandModule> = {
    builder: (builder) =>
      builder
        .option(...wholeFlag('max-games', { alias: 'g', min: 1, default: Number.POSITIVE_INFINITY, describe: 'games' }))
        .option(...wholeFlag('size', { min: 1, max: 8, also: [-1], describe: 'size' }))
        .option(...numberFlag('share', { min: 0, max: 1, default: 0.5, describe: 'share' })),
  };
  const read = async (...args: string[]): Promise<unknown[]> => {
    const { 'max-games': games, maxGames, size, share } = await parse(command, args);
    assert.equal(games, maxGames);
    return [games, size, share];
  };
  assert.deepEqual(await read(), [Number.POSITIVE_INFINITY, undefined, 0.5]);
  assert.deepEqual(await read('-g', '3', '--size', '-1', '--share=.25'), [3, -1, 0.25]);
  assert.deepEqual(await read('--max-games=2', '--max-games=1e3', '--size=8'), [1000, 8, 0.5]);
  await assert.rejects(read('--size'), /Not enough arguments following: size/);
});
