/** What `sardonyx-train loop` wrote about its generations: state.json and the games in the folder of a loop. Read only. */
import { createReadStream, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { readPgn } from '../../pgn/index.js';
import { decodeText } from '../../util/index.js';
import type { LoopGameKind, LoopGames, LoopGeneration, LoopProgress, LoopState } from '../protocol/replies.js';

type Raw = Readonly<Record<string, unknown>>;

/** Stage → its games' folder, and the section of the configuration that says how many are to be played. */
const GAMES_OF_STAGE: Readonly<Record<string, readonly [folder: string, section: string]>> = {
  selfplay: ['games', 'selfplay'],
  gate: ['gate', 'gate'],
  measure: ['measure', 'measure'],
};
const SECONDS_PER_HOUR = 3600;

/** Throws the sentence for the user. */
export function readLoopState(folder: string): Omit<LoopState, 'control'> {
  let raw: Raw;
  try {
    raw = JSON.parse(readFileSync(join(folder, 'state.json'), 'utf8'));
  } catch {
    throw new Error(`There is no training loop in ${folder}: its state.json cannot be read`);
  }
  const rows = Array.isArray(raw.generations) ? (raw.generations as Raw[]) : [];
  const current = (raw.current as Raw | undefined) ?? {};
  const generation = readNumber(current.number) ?? 0;
  const stage = typeof raw.stage === 'string' ? raw.stage : '';
  const networks = listNetworks(folder);
  return {
    folder,
    generation,
    stage,
    best: readNumber(raw.best) ?? 0,
    generations: rows.map((row) => readGeneration(row, networks)),
    current: readGeneration(current, networks),
    progress: readProgress(folder, generation, stage, raw.plan as Raw | undefined),
    hasFirstNetwork: networks.has(0),
    changes: (Array.isArray(raw.changes) ? (raw.changes as Raw[]) : []).map(describeChange),
  };
}

/** The folder of a generation's games. @param number whole, from 0 */
function getGenerationFolder(folder: string, number: number): string {
  return join(folder, 'generations', String(number).padStart(4, '0'));
}

function readGeneration(row: Raw, networks: ReadonlySet<number>): LoopGeneration {
  const gate = row.gate as Raw | null | undefined;
  const number = readNumber(row.number) ?? 0;
  const games = readNumber(row.games);
  const seconds = (row.seconds ?? {}) as Raw;
  const playSeconds = readNumber(seconds.selfplay);
  return {
    number,
    games,
    positions: readNumber(row.positions),
    window: readNumber(row.window),
    gamesPerHour: games === null || !playSeconds ? null : (games * SECONDS_PER_HOUR) / playSeconds,
    seconds: Object.values(seconds).reduce<number>((sum, value) => sum + (readNumber(value) ?? 0), 0),
    policyLoss: readNumber(row.policy_loss),
    valueLoss: readNumber(row.value_loss),
    gate: gate == null ? null : [readNumber(gate.wins) ?? 0, readNumber(gate.draws) ?? 0, readNumber(gate.losses) ?? 0],
    promoted: typeof row.promoted === 'boolean' ? row.promoted : null,
    elo: readNumber(row.elo),
    hasNetwork: networks.has(number),
  };
}

/** Generations whose network is there with its checkpoint, so that the loop can go on from it. */
function listNetworks(folder: string): ReadonlySet<number> {
  const path = join(folder, 'networks');
  if (!existsSync(path)) return new Set();
  const files = new Set(readdirSync(path));
  return new Set(
    [...files].filter((file) => files.has(file.replace(/\.onnx$/, '.pt'))).map((file) => Number.parseInt(file, 10)),
  );
}

function readProgress(folder: string, generation: number, stage: string, plan: Raw | undefined): LoopProgress | null {
  const games = GAMES_OF_STAGE[stage];
  if (games === undefined) return null;
  const own = join(getGenerationFolder(folder, generation), games[0]);
  // Self-play without pause: games that no generation has taken yet.
  const path = stage === 'selfplay' && existsSync(join(folder, 'stream')) ? join(folder, 'stream') : own;
  const total = readNumber((plan?.[games[1]] as Raw | undefined)?.games);
  return { done: countGames(path), total };
}

/** Lines of results of all tasks, the first of each being its conditions; of a task and its unfinished copy, only the task. */
function countGames(path: string): number {
  if (!existsSync(path)) return 0;
  const tasks = readdirSync(path);
  const own = tasks.filter((task) => !task.endsWith('.part') || !tasks.includes(task.slice(0, -'.part'.length)));
  return own.reduce((sum, task) => {
    const results = join(path, task, 'games.jsonl');
    if (!statSync(results, { throwIfNoEntry: false })?.isFile()) return sum;
    return sum + (readFileSync(results, 'utf8').match(/"game":/g)?.length ?? 0);
  }, 0);
}

function describeChange({ kind, network, before, generation }: Raw): string {
  const verb = kind === 'rollback' ? 'went back to' : 'promoted';
  return `${verb} generation ${network} (the best was ${before}) in generation ${generation}`;
}

function readNumber(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

const KINDS: readonly LoopGameKind[] = ['games', 'gate', 'measure'];

/** How many games of each kind there are. */
export async function countLoopGames(folder: string, generation: number): Promise<LoopGames> {
  const counts = { games: 0, gate: 0, measure: 0 };
  for (const kind of KINDS) {
    for (const path of listFiles(folder, generation, kind)) {
      for await (const _ of readPgn(decodeText(createReadStream(path)))) counts[kind]++;
    }
  }
  return counts;
}

/** The PGN of one game, counted from 0 through all tasks. Rejects with the sentence for the user. */
export async function readLoopGame(
  folder: string,
  generation: number,
  kind: LoopGameKind,
  game: number,
): Promise<string> {
  let number = 0;
  for (const path of listFiles(folder, generation, kind)) {
    for await (const { text } of readPgn(decodeText(createReadStream(path)))) if (number++ === game) return text;
  }
  throw new Error('There is no such game');
}

function listFiles(folder: string, generation: number, kind: LoopGameKind): string[] {
  const path = join(getGenerationFolder(folder, generation), kind);
  if (!existsSync(path)) return [];
  return readdirSync(path)
    .filter((task) => !task.endsWith('.part'))
    .sort()
    .map((task) => join(path, task, 'games.pgn'))
    .filter((file) => existsSync(file));
}
