/**
 * The arguments of `sardonyx match`, built from checked fields alone. The files of a match may come from a stranger: they say
 * what is played, never what is run. A player is one that the server offers, a book lies where the server keeps books, an option
 * is one that a page may set; anything else is refused by one sentence.
 */
import * as v from 'valibot';
import { limitToShare, mayNameFile, parseOptionValue } from '../../base/options/index.js';
import { cutText, unwrap } from '../../base/util/index.js';
import { listOptionSpecs } from '../../engine/app/options.js';
import { formatPairs, type Pair } from '../../games/engines/index.js';
import { formatTimeControl } from '../../games/play/index.js';
import { parseSprt } from '../../games/statistics/index.js';
import type { MatchSettings } from '../protocol/requests.js';
import { formatSprtFlag, type MatchHeader } from './match-record.js';
import type { MatchBooks, MatchPlayers } from './offers.js';

/** Where the players and books of a match are looked up. */
export interface MatchOffers {
  readonly players: MatchPlayers;
  readonly books: MatchBooks;
  /** Folder of the books that pages have sent for matches. */
  readonly bookFolder: string;
}

const LONGEST_TEXT = 2000;

/** In one line. */
const text = v.pipe(v.string(), v.maxLength(LONGEST_TEXT), v.regex(/^\P{Cc}*$/u));
const amount = v.pipe(v.number(), v.minValue(0), v.maxValue(1e12));
const whole = v.pipe(amount, v.integer());
const pairs = v.pipe(v.array(v.tuple([text, text])), v.maxLength(200));
const limits = v.strictObject({
  timeControl: v.nullable(v.strictObject({ movesPerPeriod: v.nullable(whole), periodMs: amount, incrementMs: amount })),
  movetimeMs: v.nullable(amount),
  nodes: v.nullable(whole),
  depth: v.nullable(whole),
});
const player = v.variant('kind', [
  v.strictObject({ kind: v.literal('random'), name: text }),
  v.strictObject({
    kind: v.literal('uci'),
    engine: v.strictObject({
      command: text,
      args: v.pipe(v.array(text), v.maxLength(200)),
      name: v.nullable(text),
      folder: v.nullable(text),
      options: pairs,
    }),
    limits,
  }),
  v.strictObject({ kind: v.literal('network'), name: v.nullable(text), weights: text, limits, options: pairs }),
]);
/** As `sardonyx match` writes them. */
const conditionsSchema = v.strictObject({
  players: v.array(player),
  tournament: v.optional(text),
  networks: v.optional(v.unknown()),
  flags: pairs,
  rules: v.strictObject({
    resign: v.nullable(v.strictObject({ moveCount: whole, score: amount, isTwoSided: v.boolean() })),
    draw: v.nullable(v.strictObject({ moveNumber: whole, moveCount: whole, score: amount })),
    maxPlies: v.nullable(whole),
  }),
  tablebases: v.optional(text),
  seed: whole,
  chess960: v.boolean(),
  book: v.nullable(text),
  order: v.picklist(['sequential', 'shuffled', 'random']),
  openingPlies: v.nullable(whole),
  timeMarginMs: whole,
});
type RecordedPlayer = v.InferOutput<typeof player>;
type Limits = v.InferOutput<typeof limits>;
type Conditions = v.InferOutput<typeof conditionsSchema>;

/** Of a match that a page asked for. Throws the sentence for the user. */
export function createRequestedArguments(
  settings: MatchSettings,
  { players, books, bookFolder }: MatchOffers,
): string[] {
  const { tournament, games, concurrency, book, chess960 } = settings;
  const sprt = formatSprtFlag(settings);
  if (sprt !== null && settings.players.length > 2) throw new Error('A sequential test needs two players');
  if (sprt !== null) unwrap(parseSprt(sprt));
  return [
    ...settings.players.map((name) => `--engine=${players.getWords(name)}`),
    `--each=${formatLimit(settings)}`,
    ...formatTournament(settings.players.length, tournament, games, concurrency),
    ...(book === null ? [] : [`--openings-pgn=${books.find(book, bookFolder)}`]),
    ...(sprt === null ? [] : [`--sprt=${sprt}`]),
    ...(chess960 ? ['--chess960'] : []),
  ];
}

/** Of a match that was started on a command line, as its results file records it. Throws the sentence for the user. */
export function createRecordedArguments(header: MatchHeader, { players, books, bookFolder }: MatchOffers): string[] {
  const { origin } = header;
  const { success, output } = v.safeParse(conditionsSchema, header.conditions);
  if (!success || output.players.length !== origin.players.length) {
    throw new Error('This match has conditions that the page does not know: go on with it on the command line');
  }
  const { flags, rules, seed, chess960, book, order, openingPlies, timeMarginMs, tablebases } = output;
  if (tablebases !== undefined) refuse('--syzygy-paths');
  const sharers = output.players.length;
  const bookPath = book === null ? null : books.requireOffered(book, bookFolder);
  return [
    ...output.players.map((spec) => `--engine=${formatPairs(listPlayerPairs(spec, players, sharers))}`),
    ...checkOptions(flags, sharers).map(([flag, value]) => `--${flag}=${value}`),
    ...formatTournament(output.players.length, origin.tournament, origin.games, origin.concurrency),
    ...formatRules(rules),
    ...(bookPath === null ? [] : [`--openings-pgn=${bookPath}`, `--openings-mode=${order}`]),
    ...(openingPlies === null ? [] : [`--openings-plies=${openingPlies}`]),
    ...(origin.sprt === null ? [] : [`--sprt=${origin.sprt}`]),
    ...(origin.event === undefined ? [] : [`--event=${origin.event}`]),
    ...(origin.recovers ? ['--recover'] : []),
    ...(chess960 ? ['--chess960'] : []),
    `--seed=${seed}`,
    `--time-margin=${timeMarginMs}`,
  ];
}

/** What a page asked for, in words. */
export function describeSettings(settings: MatchSettings): string {
  const { players, tournament, clock, nodes, book, chess960 } = settings;
  const sprt = formatSprtFlag(settings);
  return [
    clock === null ? `${nodes} nodes a move` : `${clock.seconds} s + ${clock.increment} s a move`,
    ...(players.length < 3 ? [] : [tournament === 'gauntlet' ? 'the first against all others' : 'each against each']),
    ...(book === null ? [] : [book]),
    ...(sprt === null ? [] : [`SPRT ${sprt}`]),
    ...(chess960 ? ['Chess960'] : []),
  ].join(', ');
}

function formatLimit({ clock, nodes }: MatchSettings): string {
  return clock === null ? `nodes=${nodes}` : `tc=${clock.seconds}+${clock.increment}`;
}

function formatTournament(players: number, kind: string, games: number, concurrency: number): string[] {
  return [
    `--games=${games}`,
    '--rating-interval=0',
    `--concurrency=${concurrency}`,
    ...(players > 2 ? [`--tournament=${kind}`] : []),
  ];
}

function listPlayerPairs(spec: RecordedPlayer, offered: MatchPlayers, sharers: number): Pair[] {
  if (spec.kind === 'random')
    return [
      ['type', 'random'],
      ['name', spec.name],
    ];
  const passed = offered.requireOffered(spec);
  const limits = listLimits(spec.limits);
  const listName = (name: string | null): Pair[] => (name === null ? [] : [['name', name]]);
  if (spec.kind === 'network') {
    const { name, options } = spec;
    return [['type', 'network'], ['weights', passed], ...listName(name), ...checkOptions(options, sharers), ...limits];
  }
  const { args, name, folder, options } = spec.engine;
  return [
    ['cmd', passed],
    ...args.map((arg): Pair => ['arg', arg]),
    ...listName(name),
    ...(folder === null ? [] : [['dir', folder] as const]),
    ...options.map(([option, value]): Pair => [`option.${option}`, value]),
    ...limits,
  ];
}

function listLimits({ timeControl, movetimeMs, nodes, depth }: Limits): Pair[] {
  const limits = {
    tc: timeControl === null ? null : formatTimeControl(timeControl),
    movetime: movetimeMs,
    nodes,
    depth,
  };
  return Object.entries(limits).flatMap(([key, limit]) => (limit === null ? [] : [[key, String(limit)] as const]));
}

/** Only options and values that a page may set, too. @returns them by their names as flags */
function checkOptions(options: readonly Pair[], sharers: number): Pair[] {
  return options.map(([name, value]) => {
    const spec = listOptionSpecs().find(({ flag, uci }) => flag === name || uci.toLowerCase() === name.toLowerCase());
    if (spec === undefined || mayNameFile(spec)) refuse(name);
    if (!parseOptionValue(limitToShare(spec, sharers), value).ok) refuse(name, cutText(value));
    return [name, value];
  });
}

function formatRules({ resign, draw, maxPlies }: Conditions['rules']): string[] {
  return [
    ...(resign === null
      ? []
      : [`--resign=movecount=${resign.moveCount} score=${resign.score} twosided=${resign.isTwoSided}`]),
    ...(draw === null ? [] : [`--draw=movenumber=${draw.moveNumber} movecount=${draw.moveCount} score=${draw.score}`]),
    ...(maxPlies === null ? [] : [`--max-plies=${maxPlies}`]),
  ];
}

function refuse(name: string, value = '…'): never {
  throw new Error(`This match uses ${name}=${value}, which the page may not set: go on with it on the command line`);
}
