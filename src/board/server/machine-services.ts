/**
 * What the desk has beside the engine on this machine, and a page with an engine of its own has not: matches between processes,
 * and the folder of a training loop.
 */
import { EngineServices, type EngineServicesSettings } from '../desk/engine-services.js';
import type { DeskServices } from '../desk/page-session.js';
import type { LoopState } from '../protocol/replies.js';
import { readLoopState } from './loop-state.js';
import type { Matches } from './matches.js';

export class MachineServices extends EngineServices implements DeskServices {
  constructor(
    settings: EngineServicesSettings,
    readonly matches: Matches,
    /** Null = no loop is shown. */
    private readonly loopFolder: string | null,
  ) {
    super(settings);
  }

  protected override get players(): readonly string[] {
    return this.matches.players;
  }

  protected override describeLock(option: string): string {
    return `${option} can be set only on the command line of sardonyx board`;
  }

  readLoop(): LoopState | null {
    return this.loopFolder === null ? null : readLoopState(this.loopFolder);
  }
}
