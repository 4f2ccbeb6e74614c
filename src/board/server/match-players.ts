/**
 * Who may play matches: networks that a page may choose, the UCI engines of `--engine`, and the random mover. A page, and the
 * files of a match, name players of this list; no other program is ever started, and no other network is read.
 */
import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { createEngineSpec, type EngineSpec, formatPairs, parsePlayerWords } from '../../selfplay/index.js';
import type { OfferedNetworks } from './offered-networks.js';

const RANDOM_MOVER = 'random';
/** Two copies of a deterministic player would repeat one game: networks draw their first moves. */
const VARIETY = [
  ['temperature', '0.7'],
  ['tempdecay-moves', '12'],
] as const;

/** Of a recorded player: what would be started or read. */
type StartedPlayer =
  | { readonly kind: 'uci'; readonly engine: { readonly name: string | null; readonly command: string } }
  | { readonly kind: 'network'; readonly weights: string };

export class MatchPlayers {
  /** Name → words of `--engine`. */
  private readonly engines: ReadonlyMap<string, string>;
  private readonly specs: readonly EngineSpec[];

  constructor(
    private readonly networks: OfferedNetworks,
    engines: readonly string[],
  ) {
    this.engines = new Map(engines.map((words) => [nameEngine(words), words]));
    this.specs = engines.flatMap((words) => {
      const pairs = parsePlayerWords(words);
      const spec = pairs.ok ? createEngineSpec(pairs.value) : pairs;
      return spec.ok ? [spec.value.spec] : [];
    });
  }

  get names(): readonly string[] {
    return [...this.listNetworks(), ...this.engines.keys(), RANDOM_MOVER];
  }

  /** What `sardonyx match --engine` takes. Throws the sentence for the user. */
  getWords(name: string): string {
    if (name === RANDOM_MOVER) return RANDOM_MOVER;
    const engine = this.engines.get(name);
    if (engine !== undefined) return engine;
    const weights = this.networks.getValue(name);
    if (weights === undefined) throw new Error(`No player of that name is offered: ${name}`);
    return formatPairs([['weights', weights], ['name', name], ...VARIETY]);
  }

  /**
   * Throws the sentence for the user when a match would start a program that the server was not started with, or that program
   * with other arguments or options (which may name files), or would read another network.
   */
  requireOffered(player: StartedPlayer): void {
    if (player.kind === 'uci') {
      const isOffered = this.specs.some(({ name: _, ...spec }) => {
        const { name: _name, ...own } = player.engine;
        return isDeepStrictEqual(own, spec);
      });
      if (isOffered) return;
      throw new Error(
        `This match needs the engine ${player.engine.command}: start the server with --engine for it, with the same options`,
      );
    }
    const values = this.listNetworks().map((name) => this.networks.getValue(name) ?? '');
    const { weights } = player;
    if (weights === '' || values.some((value) => value === weights || resolve(value) === resolve(weights))) return;
    throw new Error(`This match needs the network ${weights}: start the server with --weights or --networks for it`);
  }

  private listNetworks(): string[] {
    const networks = this.networks.entries.filter(({ needsDownload }) => needsDownload !== true);
    return networks.map(({ name }) => name);
  }
}

function nameEngine(words: string): string {
  const pairs = parsePlayerWords(words);
  const find = (key: string): string | undefined =>
    pairs.ok ? pairs.value.findLast(([own]) => own === key)?.[1] : undefined;
  return find('name') ?? find('cmd')?.split(/[\\/]/).at(-1) ?? words;
}
