import assert from 'node:assert/strict';
import { test } from 'node:test';
import yargs from 'yargs';
import { analyseCommand } from '#sardonyx/cli/commands/analyse/analyse.js';
import { backendBenchCommand } from '#sardonyx/cli/commands/backendbench.js';
import { benchCommand } from '#sardonyx/cli/commands/bench-command.js';
import { labelCommand } from '#sardonyx/cli/commands/label.js';
import { leela2OnnxCommand } from '#sardonyx/cli/commands/network-file-commands.js';
import { matchCommand } from '#sardonyx/cli/commands/play/match-command.js';
import { selfPlayCommand } from '#sardonyx/cli/commands/play/selfplay.js';
import { shardsCommand } from '#sardonyx/cli/commands/shards.js';
import { suiteCommand } from '#sardonyx/cli/commands/suite.js';
import { type Command, declareCommand, number, onOff, text, whole } from '#sardonyx/cli/declare-command.js';

/** A command's flags are read before its work begins; rejects with the sentence for the user. */
async function parse(command: Command, ...args: readonly string[]): Promise<void> {
  const parser = yargs([command.names[0], ...args]);
  command.addTo(parser);
  await parser
    .strict()
    .exitProcess(false)
    .fail((message: string | null, error: Error | undefined) => {
      throw error ?? new Error(message ?? '');
    })
    .parseAsync();
}

/** What must be given before a flag can be wrong. */
const REQUIRED = new Map<Command, readonly string[]>([
  [labelCommand, ['--engine=x', '--out=x']],
  [suiteCommand, ['x.epd']],
  [shardsCommand, ['x.pgn', '--out=x']],
  [leela2OnnxCommand, ['--input=x', '--output=y']],
]);

const wrong: [command: Command, flag: string, sentence: string][] = [
  [matchCommand, '--games=abc', '--games must be a whole number from 1, not "abc"'],
  [matchCommand, '--games=-2', '--games must be a whole number from 1, not "-2"'],
  [matchCommand, '--games=2.5', '--games must be a whole number from 1, not "2.5"'],
  [matchCommand, '--games=', '--games must be a whole number from 1, not ""'],
  [matchCommand, '--visits=-2', '--nodes must be a whole number from 1, or 0 or -1, not "-2"'],
  [matchCommand, '--seed=abc', '--seed must be a whole number from 0, not "abc"'],
  [matchCommand, '--no-seed', '--seed must be a whole number from 0, not "false"'],
  [matchCommand, '--time-margin=abc', '--time-margin must be a whole number from 0, not "abc"'],
  [labelCommand, '--max-plies=abc', '--max-plies must be a whole number from 1, not "abc"'],
  [labelCommand, '--games=-2', '--games must be a whole number from 1, or 0 or -1, not "-2"'],
  [labelCommand, '--play-out=1.5', '--play-out must be a number from 0 to 1, not "1.5"'],
  [labelCommand, '--temperature=0', '--temperature must be a number above 0, not "0"'],
  [selfPlayCommand, '--games=-3', '--games must be a whole number from 1, or 0 or -1 or -2, not "-3"'],
  [selfPlayCommand, '--max-plies=abc', '--max-plies must be a whole number from 1, or 0 or -1, not "abc"'],
  [selfPlayCommand, '--full-search-share=2', '--full-search-share must be a number above 0, at most 1, not "2"'],
  [suiteCommand, '--nodes=-2', '--nodes must be a whole number from 1, or 0 or -1, not "-2"'],
  [suiteCommand, '--movetime=0.5', '--movetime must be a whole number from 1, or 0 or -1, not "0.5"'],
  [analyseCommand, '--movetime=-2', '--movetime must be a whole number from 1, or 0 or -1, not "-2"'],
  [benchCommand, '--num-positions=0', '--num-positions must be a whole number from 1 to 34, not "0"'],
  [backendBenchCommand, '--seconds=-1', '--seconds must be a number above 0, not "-1"'],
  [shardsCommand, '--threads=many', '--threads must be a whole number from 1, not "many"'],
  [leela2OnnxCommand, '--onnx-opset=19', '--onnx-opset must be a whole number from 7 to 18, not "19"'],
];

for (const [command, flag, sentence] of wrong) {
  test(`${command.names[0]} ${flag} is refused in one sentence`, async () => {
    await assert.rejects(parse(command, ...(REQUIRED.get(command) ?? []), flag), { message: sentence });
  });
}

test('flags are taken by every name, the last of several, and defaults as they are', async () => {
  const taken: unknown[] = [];
  const command = declareCommand({
    command: 'try',
    describe: '',
    flags: {
      'max-games': whole({ alias: 'g', min: 1, default: Number.POSITIVE_INFINITY }, 'games'),
      size: whole({ min: 1, max: 8, also: [-1] }, 'size'),
      share: number({ min: 0, max: 1, default: 0.5 }, 'share'),
      out: text('name'),
      json: onOff('JSON'),
    },
    run: (args) => {
      const isMarked: boolean = args.json;
      // @ts-expect-error: a flag that is not declared does not compile
      taken.push([args['max-games'], args.size, args.share, args.out, isMarked, args.depht]);
    },
  });
  const read = async (...args: string[]): Promise<unknown> => {
    await parse(command, ...args);
    return taken.pop();
  };
  assert.deepEqual(await read(), [Number.POSITIVE_INFINITY, undefined, 0.5, undefined, false, undefined]);
  assert.deepEqual(await read('-g', '3', '--size', '-1', '--share=.25'), [3, -1, 0.25, undefined, false, undefined]);
  const twice = ['--max-games=2', '--max-games=1e3', '--size=8', '--out=a', '--out=b', '--json', '--json'];
  assert.deepEqual(await read(...twice), [1000, 8, 0.5, 'b', true, undefined]);
  await assert.rejects(read('--size'), /Not enough arguments following: size/);
});
