/**
 * What the desk has beside the engine on this machine, and a page with an engine of its own has not: matches between processes,
 * and the folder of a training loop.
 */
import { EngineServices, type EngineServicesSettings } from '../desk/engine-services.js';
import type { DeskServices } from '../desk/page-session.js';
import type { LoopControl } from './loop-control.js';
import type { Matches } from './matches.js';
import type { OfferedNetworks } from './offered-networks.js';

export class MachineServices extends EngineServices implements DeskServices {
  constructor(
    private readonly own: Omit<EngineServicesSettings, 'networks'>,
    private readonly offered: OfferedNetworks,
    readonly matches: Matches,
    /** Null = no loop is shown. */
    readonly loop: LoopControl | null,
  ) {
    super({ ...own, networks: offered });
  }

  protected override get players(): readonly string[] {
    return this.matches.players;
  }

  protected override describeLock(option: string): string {
    return `${option} can be set only on the command line of sardonyx board`;
  }

  /** Fetches a network of the catalogue first; the engine plays on meanwhile. */
  override async useNetwork(name: string): Promise<void> {
    const report = (share: number | null, isDone: boolean): void =>
      this.own.broadcast({ type: 'progress', text: `Downloading ${name}`, share, isDone });
    let isLate = false;
    try {
      await this.offered.obtain(name, (share) => {
        isLate = true;
        report(share, false);
      });
    } finally {
      if (isLate) report(null, true);
    }
    await super.useNetwork(name);
  }
}
