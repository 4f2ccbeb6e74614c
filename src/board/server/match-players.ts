/**
 * Who may play matches: networks that a page may choose, the UCI engines of `--engine`, and the random mover. A page, and the
 * files of a match, name players of this list; no other program is ever started.
 */
import { createEngineSpec, createPlayerSpec, type PlayerSpec, parsePlayerWords } from '../../selfplay/index.js';
import { unwrap } from '../../util/index.js';
import type { OfferedNetworks } from './offered-networks.js';

const RANDOM_MOVER = 'random';
/** Two copies of a deterministic player would repeat one game: networks draw their first moves. */
const VARIETY = 'temperature=0.7 tempdecay-moves=12';

export class MatchPlayers {
  /** Name → words of `--engine`. */
  private readonly engines: ReadonlyMap<string, string>;
  /** What the engines are started by. */
  private readonly programs: ReadonlySet<string>;

  constructor(
    private readonly networks: OfferedNetworks,
    engines: readonly string[],
  ) {
    this.engines = new Map(engines.map((words) => [nameEngine(words), words]));
    this.programs = new Set(engines.flatMap(listPrograms));
  }

  get names(): readonly string[] {
    const networks = this.networks.entries.filter(({ needsDownload }) => needsDownload !== true);
    return [...networks.map(({ name }) => name), ...this.engines.keys(), RANDOM_MOVER];
  }

  /** What `sardonyx match --engine` takes. Throws the sentence for the user. */
  getWords(name: string): string {
    if (name === RANDOM_MOVER) return RANDOM_MOVER;
    const engine = this.engines.get(name);
    if (engine !== undefined) return engine;
    const weights = this.networks.getValue(name);
    if (weights === undefined) throw new Error(`No player of that name is offered: ${name}`);
    return `weights="${weights}" name="${name}" ${VARIETY}`;
  }

  /** Throws the sentence for the user when a match would start a program that the server was not started with. */
  requireOffered(specs: readonly PlayerSpec[]): void {
    for (const spec of specs) {
      if (spec.kind === 'uci' && !this.programs.has(describeProgram(spec.engine))) {
        throw new Error(`This match needs the engine ${spec.engine.command}: start the server with --engine for it`);
      }
    }
  }
}

/** Players as the arguments of a match describe them. Throws the sentence for the user. */
export function readPlayerSpecs(args: readonly string[]): PlayerSpec[] {
  const find = (flag: string): string[] =>
    args.flatMap((arg, index) => (arg === flag && index + 1 < args.length ? [args[index + 1]] : []));
  const shared = find('--each').flatMap((words) => unwrap(parsePlayerWords(words)));
  return find('--engine').map((words) => unwrap(createPlayerSpec([...shared, ...unwrap(parsePlayerWords(words))])));
}

function listPrograms(words: string): string[] {
  const pairs = parsePlayerWords(words);
  const spec = pairs.ok ? createEngineSpec(pairs.value) : pairs;
  return spec.ok ? [describeProgram(spec.value.spec)] : [];
}

function describeProgram({ command, args, folder }: Extract<PlayerSpec, { kind: 'uci' }>['engine']): string {
  return JSON.stringify([command, args, folder]);
}

function nameEngine(words: string): string {
  const pairs = parsePlayerWords(words);
  const find = (key: string): string | undefined =>
    pairs.ok ? pairs.value.findLast(([own]) => own === key)?.[1] : undefined;
  return find('name') ?? find('cmd')?.split(/[\\/]/).at(-1) ?? words;
}
