/**
 * Parses a user's specification of a player, as `key=value` pairs: `random`, a UCI engine (`cmd=…`) or a network that plays inside
 * this process (`weights=…`), with its limits. Keys are those of cutechess-cli and fastchess, or lc0's flags.
 */
import { failure, type Result, success } from '../../base/util/index.js';
import { createEngineSpec, type EngineSpec, type Pair, parsePairs } from '../engines/index.js';
import { parseTimeControl, type TimeControl } from './clock.js';
import type { PlayerLimits } from './player.js';

export type PlayerSpec =
  | { readonly kind: 'random'; readonly name: string }
  | { readonly kind: 'uci'; readonly engine: EngineSpec; readonly limits: PlayerLimits }
  | {
      readonly kind: 'network';
      readonly name: string | null;
      readonly weights: string;
      readonly limits: PlayerLimits;
      /** Search and network flags, not checked here. */
      readonly options: readonly Pair[];
    };

const NETWORK_FILE = /\.(onnx|pb)(\.gz)?$/i;

/**
 * A whole player in one string: `random`, a network or a program, alone or before `key=value …`, or these pairs alone.
 * @param isNetworkName tells the names of networks from programs
 */
export function parsePlayerWords(text: string, isNetworkName: (word: string) => boolean = () => false): Result<Pair[]> {
  const trimmed = text.trim();
  if (/^[\w.-]+=/.test(trimmed)) return parsePairs(trimmed);
  // The player may be a path with spaces, in quotes or, where the shell has removed them, without.
  const [, , quoted, others] = /^(["'])(.*?)\1(?:\s+(.*))?$/s.exec(trimmed) ?? [];
  const at = trimmed.search(/\s[\w.-]+=/);
  const [plain, rest] = at < 0 ? [trimmed, ''] : [trimmed.slice(0, at).trimEnd(), trimmed.slice(at)];
  const pairs = parsePairs(quoted === undefined ? rest : (others ?? ''));
  return pairs.ok ? success([parsePlayerWord(quoted ?? plain, isNetworkName), ...pairs.value]) : pairs;
}

function parsePlayerWord(word: string, isNetworkName: (word: string) => boolean): Pair {
  if (word === 'random') return ['type', 'random'];
  return [NETWORK_FILE.test(word) || isNetworkName(word) ? 'weights' : 'cmd', word];
}

/** @param shared settings of all players, which the player's own overrule; of pairs with the same key the later one counts */
export function createPlayerSpec(own: readonly Pair[], shared: readonly Pair[] = []): Result<PlayerSpec> {
  const read = readLimits([...shared, ...own]);
  if (!read.ok) return read;
  const { limits, rest } = read.value;
  const find = (key: string): string | undefined => rest.findLast(([name]) => name === key)?.[1];
  const kind = find('type') ?? (find('cmd') !== undefined ? 'uci' : find('weights') !== undefined ? 'network' : '');
  const others = rest.filter(([key]) => key !== 'type');
  if (kind === 'random') {
    // What is set for all players may be meant for the others.
    const [unknown] = own.find(([key]) => key !== 'type' && key !== 'name') ?? [];
    if (unknown !== undefined) return failure(`The random mover takes no "${unknown}=": it has only a name`);
    return success({ kind, name: find('name') ?? 'random' });
  }
  const isLimited = Object.values(limits).some((limit) => limit !== null);
  const describeMissingLimit = (player: string): string =>
    `${player} has no limit: give tc, st, movetime, nodes or depth`;
  if (kind === 'network') {
    if (!isLimited) return failure(describeMissingLimit(find('weights') ?? 'A network'));
    const options = others.filter(([key]) => key !== 'weights' && key !== 'name');
    return success({ kind, name: find('name') ?? null, weights: find('weights') ?? '', limits, options });
  }
  if (kind !== 'uci') return failure('A player is "random", a network (weights=FILE) or an engine (cmd=PROGRAM)');
  const engine = createEngineSpec(others.filter(([key]) => key !== 'weights'));
  if (!engine.ok) return engine;
  const unknown = engine.value.rest[0];
  if (unknown !== undefined)
    return failure(`An engine takes no "${unknown[0]}=" (its UCI options are option.NAME=VALUE)`);
  if (!isLimited) return failure(describeMissingLimit(engine.value.spec.command));
  return success({ kind, engine: engine.value.spec, limits });
}

function readLimits(pairs: readonly Pair[]): Result<{ limits: PlayerLimits; rest: Pair[] }> {
  let timeControl: TimeControl | null = null;
  let movetimeMs: number | null = null;
  let nodes: number | null = null;
  let depth: number | null = null;
  const rest: Pair[] = [];
  for (const [key, value] of pairs) {
    const number = Number(value);
    const isCount = ['nodes', 'visits', 'playouts', 'depth'].includes(key);
    if (isCount && !(Number.isSafeInteger(number) && number > 0)) {
      return failure(`${key} needs a whole number above 0, not "${value}"`);
    }
    if ((key === 'st' || key === 'movetime') && !(Number.isFinite(number) && number > 0)) {
      return failure(`${key} needs a number above 0, not "${value}"`);
    }
    if (key === 'tc') {
      const parsed = parseTimeControl(value);
      if (!parsed.ok) return parsed;
      timeControl = parsed.value;
    } else if (key === 'st') movetimeMs = 1000 * number;
    else if (key === 'movetime') movetimeMs = number;
    else if (key === 'depth') depth = number;
    else if (isCount) nodes = number;
    else rest.push([key, value]);
  }
  return success({ limits: { timeControl, movetimeMs, nodes, depth }, rest });
}
