/**
 * What a page may know and change of the engine: its description, options, networks, explanations. The same for the engine of
 * `sardonyx board` and for the engine in a page; what only one of them has is in the settings. Errors are sentences for the user.
 */

import {
  limitToShare,
  mayNameFile,
  type OptionSpec,
  type OptionStore,
  parseOptionValue,
} from '../../base/options/index.js';
import { unwrap } from '../../base/util/index.js';
import { formatSquare, formatUciMove, type Position, type Square } from '../../chess/rules/index.js';
import type { GamePosition } from '../../engine/core/index.js';
import { computeOcclusion } from '../../networks/explain/index.js';
import type { PoolOptions } from '../../networks/nn/index.js';
import type {
  EngineDescription,
  ExplanationText,
  LoopGameKind,
  LoopGames,
  LoopState,
  MatchEntry,
  MatchOffer,
  MatchState,
  NetworkEntry,
  OptionState,
  PortEvent,
} from '../protocol/replies.js';
import type { MatchSettings } from '../protocol/requests.js';
import { DESK_OPTIONS, type EngineDesk } from './engine-desk.js';

interface ListedNetwork extends NetworkEntry {
  /** Of WeightsFile. */
  readonly value: string;
}

const AUTODISCOVER = '<autodiscover>';

/** The networks that a page may choose by name, the one that suits the machine first. */
export class NetworkList {
  protected readonly networks = new Map<string, ListedNetwork>();

  /** @param place "this machine", "this browser" */
  constructor(place: string) {
    this.add('bundled', AUTODISCOVER, `the network that suits ${place}`);
  }

  get entries(): readonly NetworkEntry[] {
    return [...this.networks.values()].map(({ value: _, ...entry }) => entry);
  }

  /** Value of WeightsFile; undefined for a name that is not in the list. */
  getValue(name: string): string | undefined {
    return this.networks.get(name)?.value;
  }

  /** Name of the entry with this value of WeightsFile; null for none. */
  findName(value: string): string | null {
    const wanted = value === '' ? AUTODISCOVER : value;
    return [...this.networks.values()].find((network) => network.value === wanted)?.name ?? null;
  }

  /** @returns the name in the list, numbered where another network has it; the same network is not listed twice */
  protected add(name: string, value: string, description: string, isKept = false): string {
    const known = this.findName(value);
    if (known !== null) return known;
    let unique = name;
    for (let number = 2; this.networks.has(unique); number++) unique = `${name} (${number})`;
    this.networks.set(unique, { name: unique, value, description, ...(isKept && { isKept }) });
    return unique;
  }
}

interface EngineServicesSettings {
  readonly desk: EngineDesk;
  readonly networks: NetworkList;
  readonly version: string;
  /** Tells every page. */
  broadcast(event: PortEvent): void;
  /** The evaluators of the options, for explanations. Rejects with the sentence for the user. */
  createPool(options: OptionStore, warn: (text: string) => void): Promise<PoolOptions>;
  /** Why a page cannot set this option, which names files or devices. */
  describeLock(option: string): string;
  /** Whether the page shows this option: others mean nothing where the engine runs. All are shown when left out. */
  isOffered?(option: OptionState): boolean;
  /** Fetches a network that is not here yet; the engine goes on meanwhile. */
  obtain?(name: string): Promise<void>;
  /** Null where matches cannot be played: they need other processes. */
  readonly matches: MatchServices | null;
  /** Null without a training loop. */
  readonly loop: LoopServices | null;
}

/** A training loop in a folder of the machine. */
export interface LoopServices {
  read(): LoopState;
  countGames(generation: number): Promise<LoopGames>;
  readGame(generation: number, kind: LoopGameKind, game: number): Promise<string>;
  start(): void;
  stop(): void;
  changeBest(kind: 'promote' | 'rollback', network: number): Promise<string>;
}

/** Matches between engines. */
export interface MatchServices {
  /** Who can play. */
  readonly players: readonly string[];
  readonly offer: MatchOffer;
  list(): readonly MatchEntry[];
  read(name: string, from: number): Promise<MatchState>;
  readGame(name: string, game: number): Promise<string>;
  start(settings: MatchSettings): Promise<string>;
  pause(name: string): void;
  resume(name: string): void;
  remove(name: string): void;
}

/** Explanations that may be under way or waiting; each costs a thread and a copy of the network. */
const MOST_EXPLANATIONS = 4;

export class EngineServices {
  private explanations = 0;
  private lastExplanation: Promise<unknown> = Promise.resolve();

  constructor(private readonly settings: EngineServicesSettings) {}

  get loop(): LoopServices | null {
    return this.settings.loop;
  }

  get matches(): MatchServices | null {
    return this.settings.matches;
  }

  describe(): EngineDescription {
    const { desk, networks, version, matches, isOffered = () => true } = this.settings;
    const { options, running, problem } = desk;
    return {
      name: 'Sardonyx',
      version,
      options: options.declared
        .filter((spec) => this.isShown(spec))
        // Functions are no messages.
        .map(({ check: _, ...spec }) => ({
          spec: limitToShare(spec),
          value: options.values.get(spec.uci) ?? null,
          isLocked: mayNameFile(spec),
        }))
        .filter((option) => isOffered(option)),
      players: matches?.players ?? [],
      levels: readLevels(options),
      hasLoop: this.loop !== null,
      networks: networks.entries,
      network: networks.findName(options.getString('WeightsFile')),
      running,
      problem,
    };
  }

  async setOption(name: string, value: string): Promise<void> {
    const spec = this.settings.desk.options.find(name);
    if (spec === undefined) throw new Error(`Unknown option: ${name}`);
    if (DESK_OPTIONS.has(spec.uci)) throw new Error(`The board sets ${spec.uci} by itself`);
    if (mayNameFile(spec)) throw new Error(this.settings.describeLock(spec.uci));
    unwrap(parseOptionValue(limitToShare(spec), value));
    await this.change(spec.uci, value);
  }

  async useNetwork(name: string): Promise<void> {
    const { desk, networks, obtain } = this.settings;
    const value = networks.getValue(name);
    if (value === undefined) throw new Error(`No network of that name is offered: ${name}`);
    await obtain?.(name);
    const before = desk.options.getString('WeightsFile');
    const problem = await this.change('WeightsFile', value);
    if (problem === '') return;
    // The engine has kept its network, and the option names it again.
    await this.change('WeightsFile', before);
    throw new Error(problem);
  }

  /** One after the other, each in a thread of its own. */
  async explain({ position }: GamePosition, wanted: string | null): Promise<ExplanationText> {
    if (position.countLegalMoves() === 0) throw new Error('There is nothing to explain: the game is over');
    if (this.explanations >= MOST_EXPLANATIONS) throw new Error('Too many explanations are waiting');
    this.explanations++;
    const explanation = this.lastExplanation.then(() => this.computeExplanation(position, wanted));
    this.lastExplanation = explanation.catch(() => undefined);
    return explanation.finally(() => {
      this.explanations--;
    });
  }

  /** Tells every page how things stand now. */
  announce(): void {
    this.settings.broadcast({ type: 'description', description: this.describe() });
  }

  /** @returns why the engine cannot be used as the options say; '' when it can */
  private async change(name: string, value: string): Promise<string> {
    const { desk } = this.settings;
    unwrap(await desk.runQuietly((engine) => engine.setOption(name, value)));
    this.announce();
    const problem = await desk.prepare();
    this.announce();
    return problem;
  }

  private async computeExplanation(position: Position, wanted: string | null): Promise<ExplanationText> {
    const { desk, broadcast, createPool } = this.settings;
    const warn = (text: string): void => broadcast({ type: 'notice', level: 'warning', text });
    const pool = await createPool(desk.options, warn);
    const { moves, whole, withoutSquare } = unwrap(await computeOcclusion(pool, position));
    const names = moves.map((move) => formatUciMove(move, true));
    const index = wanted === null ? whole.priors.indexOf(Math.max(...whole.priors)) : names.indexOf(wanted);
    if (index < 0) throw new Error(`${wanted} is not a legal move here`);
    return {
      move: names[index],
      probability: whole.priors[index],
      value: whole.valueWl,
      squares: withoutSquare.map((other, square) => ({
        square: formatSquare(square as Square),
        value: whole.valueWl - other.valueWl,
        policy: whole.priors[index] - other.priors[index],
      })),
    };
  }

  /** Other names, options without effect and those of the desk are left out. */
  private isShown(spec: OptionSpec): boolean {
    const isOtherName = spec.kind !== 'button' && !this.settings.desk.options.values.has(spec.uci);
    return !isOtherName && !DESK_OPTIONS.has(spec.uci) && spec.effect !== 'ignored';
  }
}

function readLevels(options: OptionStore): EngineDescription['levels'] {
  const spec = options.find('UCI_Elo');
  return spec?.kind === 'int' ? { weakest: spec.min, strongest: spec.max } : { weakest: 0, strongest: 0 };
}
