/** The flags of `sardonyx label`, in three groups: what is labelled, how, and where the labels go. */
import { availableParallelism } from 'node:os';
import type { Argv } from 'yargs';
import { PLAYER_RESULTS, type PlayerResult } from '../../../selfplay/index.js';
import { numberFlag, wholeFlag } from '../../number-flag.js';

export interface LabelArguments {
  engine: string;
  out: string;
  prefix: string;
  games: number;
  book: string[];
  nodes: number;
  multipv: number;
  wander: string;
  blunder: string;
  temperature: number;
  'resign-score': number;
  'resign-plies': number;
  'play-out': number;
  'max-plies': number;
  from: string[] | undefined;
  player: string | undefined;
  results: PlayerResult[];
  'player-to-move': boolean;
  sample: number;
  'skip-plies': number;
  roots: boolean;
  leaves: number;
  'leaf-nodes': number;
  weights: string | undefined;
  backend: string | undefined;
  'plies-per-file': number;
  concurrency: number;
  seed: number;
  json: boolean;
}

export function addLabelFlags(yargs: Argv): Argv {
  return addOutputFlags(addNetworkFlags(addSourceFlags(addGameFlags(addEngineFlags(yargs)))));
}

function addEngineFlags(yargs: Argv): Argv {
  return yargs
    .option('engine', {
      type: 'string',
      demandOption: true,
      describe: 'UCI engine that plays and scores: a program, or "cmd=PROGRAM args=… option.NAME=VALUE"',
    })
    .option(...wholeFlag('nodes', { min: 1, default: 4000, describe: 'Nodes the engine searches in each position' }))
    .option(...wholeFlag('multipv', { min: 1, default: 5, describe: 'Moves the engine scores in each position' }))
    .option(
      ...wholeFlag('games', {
        min: 1,
        default: Number.POSITIVE_INFINITY,
        defaultDescription: 'no end',
        describe: 'Games in all; with --from, games or positions of the files',
      }),
    )
    .option(...wholeFlag('seed', { min: 0, default: 1, describe: 'Seed of everything that is random' }))
    .option(
      ...wholeFlag('concurrency', {
        min: 1,
        default: availableParallelism(),
        describe: 'Engine processes that run at the same time',
      }),
    );
}

function addGameFlags(yargs: Argv): Argv {
  const group = 'Games that the engine plays (without --from):';
  const own = <T extends [string, object]>([name, flag]: T): [string, object] => [name, { ...flag, group }];
  return yargs
    .option('book', {
      type: 'string',
      array: true,
      default: ['startpos:1:1-9'],
      group,
      describe:
        'Where games start, as PATH:WEIGHT:RANDOM-PLIES (a number or a range); may be given several times; "startpos" and "endgames" are built in',
    })
    .option('wander', {
      type: 'string',
      default: '0.2-0.7',
      group,
      describe:
        'Share of the plies at which one of the scored moves is drawn; each game draws its share from this range',
    })
    .option('blunder', {
      type: 'string',
      default: '0-0.1',
      group,
      describe: 'Share of the plies at which any legal move is drawn',
    })
    .option(
      ...own(
        numberFlag('temperature', {
          min: 0,
          isMinExcluded: true,
          default: 150,
          describe: 'Temperature of the moves drawn by --wander, in centipawns',
        }),
      ),
    )
    .option(
      ...own(
        numberFlag('resign-score', {
          min: 0,
          default: 900,
          describe: 'End a game when one side is ahead by this many centipawns …',
        }),
      ),
    )
    .option(...own(wholeFlag('resign-plies', { min: 1, default: 5, describe: '… for this many plies in a row' })))
    .option(
      ...own(
        numberFlag('play-out', {
          min: 0,
          max: 1,
          default: 0.25,
          describe: 'Share of the games that are played out, whatever the score',
        }),
      ),
    )
    .option(...own(wholeFlag('max-plies', { min: 1, default: 260, describe: 'Plies after which a game ends' })));
}

function addSourceFlags(yargs: Argv): Argv {
  const group = 'Positions of existing files:';
  const own = <T extends [string, object]>([name, flag]: T): [string, object] => [name, { ...flag, group }];
  return yargs
    .option('from', {
      type: 'string',
      array: true,
      group,
      describe:
        'Label the positions of these files instead of playing: games (.pgn, .jsonl) or positions (.epd, .fen), plain, .gz, .zst, .bz2 or .zip; no position is labelled twice',
    })
    .option('player', { type: 'string', group, describe: 'Only games of this player (PGN tags White and Black)' })
    .option('results', {
      type: 'string',
      default: '',
      group,
      coerce: parseResults,
      describe: 'Only games with these results of --player, in this order, such as "lost,drawn"',
    })
    .option('player-to-move', {
      type: 'boolean',
      default: false,
      group,
      describe: 'Only positions in which it is the turn of --player',
    })
    .option(
      ...own(numberFlag('sample', { min: 0, isMinExcluded: true, max: 1, default: 1, describe: 'Share of the plies' })),
    )
    .option(
      ...own(wholeFlag('skip-plies', { min: 0, default: 0, describe: 'Plies at the start of each game to pass over' })),
    );
}

function addNetworkFlags(yargs: Argv): Argv {
  const group = 'Our network:';
  const own = <T extends [string, object]>([name, flag]: T): [string, object] => [name, { ...flag, group }];
  return yargs
    .option('weights', {
      type: 'string',
      group,
      describe: 'Network whose first impression is compared with each label; the difference is written as "surprise"',
    })
    .option('backend', { type: 'string', group, describe: 'Backend of --weights' })
    .option(
      ...own(
        wholeFlag('leaves', {
          min: 0,
          default: 0,
          describe:
            'With --from and --weights: for each ply, label so many random positions that our search visits from it',
        }),
      ),
    )
    .option(...own(wholeFlag('leaf-nodes', { min: 2, default: 100, describe: 'Nodes of that search' })))
    .option('roots', {
      type: 'boolean',
      default: true,
      group,
      describe: 'With --leaves: label the plies, too; --no-roots labels the leaves only',
    });
}

function addOutputFlags(yargs: Argv): Argv {
  return yargs
    .option('out', {
      type: 'string',
      demandOption: true,
      describe: 'Folder to write to; an existing run there is continued',
    })
    .option('prefix', { type: 'string', default: 'labels', describe: 'First part of the names of the files' })
    .option(
      ...wholeFlag('plies-per-file', {
        min: 1,
        default: 100_000,
        describe: 'Plies in each file; the default makes files of about 2 MB',
      }),
    )
    .option('json', { type: 'boolean', default: false, describe: 'Print the summary as JSON' });
}

function parseResults(given: unknown): PlayerResult[] {
  const words = String(Array.isArray(given) ? given.at(-1) : given)
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
  for (const word of words) {
    if (!PLAYER_RESULTS.includes(word as PlayerResult)) {
      throw new Error(`--results is a list of ${PLAYER_RESULTS.join(', ')}, not "${word}"`);
    }
  }
  return [...new Set(words)] as PlayerResult[];
}
