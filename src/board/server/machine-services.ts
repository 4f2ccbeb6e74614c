/** What the desk needs of this machine: its options and which of them a page may set, networks, explanations. */
import { createPoolOptions } from '../../app/index.js';
import { formatSquare, formatUciMove, type Square } from '../../chess/index.js';
import type { GamePosition } from '../../engine/index.js';
import { computeOcclusion } from '../../nn/index.js';
import type { OptionSpec, OptionStore } from '../../options/index.js';
import { unwrap } from '../../util/index.js';
import { DESK_OPTIONS } from '../desk/desk-task.js';
import type { EngineDesk } from '../desk/engine-desk.js';
import type { DeskServices } from '../desk/page-session.js';
import type { EngineDescription, ExplanationText, LoopState, PortEvent } from '../protocol/replies.js';
import { readLoopState } from './loop-state.js';
import type { Matches } from './matches.js';
import type { OfferedNetworks } from './offered-networks.js';

/** The only options of free text that a page may set. All others of that kind name files, devices or folders. */
const FREE_TEXTS = new Set(['TimeManager', 'Contempt']);

function isLocked(spec: OptionSpec): boolean {
  return spec.kind === 'string' && !FREE_TEXTS.has(spec.uci);
}

function readLevels(options: OptionStore): EngineDescription['levels'] {
  const spec = options.find('UCI_Elo');
  return spec?.kind === 'int' ? { weakest: spec.min, strongest: spec.max } : { weakest: 0, strongest: 0 };
}

export class MachineServices implements DeskServices {
  constructor(
    private readonly desk: EngineDesk,
    private readonly networks: OfferedNetworks,
    readonly matches: Matches,
    private readonly loopFolder: string | null,
    private readonly version: string,
    private readonly broadcast: (event: PortEvent) => void,
  ) {}

  describe(): EngineDescription {
    const { options, running } = this.desk;
    return {
      name: 'Sardonyx',
      version: this.version,
      options: options.declared
        .filter((spec) => this.isShown(spec))
        .map((spec) => ({ spec, value: options.values.get(spec.uci) ?? null, isLocked: isLocked(spec) })),
      players: this.matches.players,
      levels: readLevels(options),
      networks: this.networks.entries,
      network: this.networks.findName(options.getString('WeightsFile')),
      running,
    };
  }

  async setOption(name: string, value: string): Promise<void> {
    const spec = this.desk.options.find(name);
    if (spec === undefined) throw new Error(`Unknown option: ${name}`);
    if (DESK_OPTIONS.has(spec.uci)) throw new Error(`The board sets ${spec.uci} by itself`);
    if (isLocked(spec)) throw new Error(`${spec.uci} can be set only on the command line of sardonyx board`);
    await this.change(spec.uci, value);
  }

  async useNetwork(name: string): Promise<void> {
    const value = this.networks.getValue(name);
    if (value === undefined) throw new Error(`No network of that name is offered: ${name}`);
    await this.change('WeightsFile', value);
  }

  async explain({ position }: GamePosition, wanted: string | null): Promise<ExplanationText> {
    if (position.countLegalMoves() === 0) throw new Error('There is nothing to explain: the game is over');
    const warn = (text: string): void => this.broadcast({ type: 'notice', level: 'warning', text });
    const pool = await createPoolOptions(this.desk.options, warn);
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
    const isOtherName = spec.kind !== 'button' && !this.desk.options.values.has(spec.uci);
    return !isOtherName && !DESK_OPTIONS.has(spec.uci) && !spec.help.startsWith('No effect');
  }

  readLoop(): LoopState | null {
    return this.loopFolder === null ? null : readLoopState(this.loopFolder);
  }

  /** Tells every page how things stand now. */
  announce(): void {
    this.broadcast({ type: 'description', description: this.describe() });
  }

  private async change(name: string, value: string): Promise<void> {
    unwrap(await this.desk.runQuietly((engine) => engine.setOption(name, value)));
    this.announce();
    await this.desk.prepare();
    this.announce();
  }
}
