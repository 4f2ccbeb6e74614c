/** A player's specification → what makes its players. */
import { failure, type Result, success } from '../../util/index.js';
import type { PlayerSource } from './player.js';
import type { PlayerSpec } from './player-spec.js';
import { createRandomSource } from './random-player.js';
import { createUciSource } from './uci-player.js';

export async function createPlayerSource(spec: PlayerSpec, chess960: boolean): Promise<Result<PlayerSource>> {
  switch (spec.kind) {
    case 'random':
      return success(createRandomSource(spec.name));
    case 'uci':
      return success(createUciSource(spec.engine, spec.limits, chess960));
    case 'network':
      return failure(`${spec.weights}: networks cannot play in this process yet; run them as a UCI engine`);
  }
}
