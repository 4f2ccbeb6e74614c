/** A player that is an external engine process. */

import { failure, type Result, success } from '../../base/util/index.js';
import { type Move, type Position, parseUciMove } from '../../chess/rules/index.js';
import { EngineError, type EngineSpec, encodeScore, UciClient, type UciLimits } from '../engines/index.js';
import type { Game, Thought } from './game.js';
import { judgeMove } from './judge-move.js';
import { type Player, PlayerFault, type PlayerLimits, type PlayerSource, type ThinkingTime } from './player.js';

/** An engine that has not answered for this long after its clock or move time has run out counts as hanging. */
const TIMEOUT_MS = 10_000;

class UciPlayer implements Player {
  private constructor(
    private readonly spec: EngineSpec,
    readonly limits: PlayerLimits,
    private readonly chess960: boolean,
    private client: UciClient,
  ) {}

  static async start(spec: EngineSpec, limits: PlayerLimits, chess960: boolean): Promise<UciPlayer> {
    return new UciPlayer(spec, limits, chess960, await startClient(spec, chess960));
  }

  get name(): string {
    return this.client.name;
  }

  async startGame(): Promise<void> {
    const canGoOn = this.client.isAlive && (await this.beginGame()) === null;
    if (canGoOn) return;
    this.client = await startClient(this.spec, this.chess960);
    const failed = await this.beginGame();
    if (failed !== null) throw new PlayerFault('crash', failed.message);
  }

  /** @returns why the engine is not ready, after it was closed; null when it is */
  private async beginGame(): Promise<EngineError | null> {
    try {
      await this.client.newGame();
      return null;
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      await this.client.close();
      return error;
    }
  }

  async think(game: Game, time: ThinkingTime): Promise<Thought> {
    const mover = game.position.sideToMove;
    const own = time.remainingMs[mover];
    const known = own ?? this.limits.movetimeMs;
    const timeoutMs = known === null ? undefined : known + TIMEOUT_MS;
    try {
      const limits = createUciLimits(this.limits, time);
      const { bestMove, lines, timeMs } = await this.client.go(game.formatUciPosition(), limits, timeoutMs);
      const move = judgeMove(game.position, bestMove, this.chess960);
      if (!move.ok) throw new PlayerFault('illegal-move', `${this.name} played ${move.error}`);
      const best = lines[0];
      if (best === undefined) return { move: move.value, score: null, depth: 0, nodes: 0, timeMs };
      const { score, depth, nodes, pv } = best;
      const line = readLine(game.position, pv);
      return { move: move.value, score: encodeScore(score), depth, nodes, timeMs, line };
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      await this.client.close();
      throw new PlayerFault(error.kind === 'silence' && known !== null ? 'time' : 'crash', error.message);
    }
  }

  async close(): Promise<void> {
    await this.client.close();
  }
}

/** As far as its moves are legal. */
function readLine(start: Position, pv: readonly string[]): Move[] {
  const position = start.clone();
  const line: Move[] = [];
  for (const text of pv) {
    const move = parseUciMove(position, text);
    if (!move.ok) break;
    line.push(move.value);
    position.makeMove(move.value);
  }
  return line;
}

function startClient(spec: EngineSpec, chess960: boolean): Promise<UciClient> {
  const options = chess960 ? [['UCI_Chess960', 'true'] as const, ...spec.options] : spec.options;
  return UciClient.start({ ...spec, options });
}

function createUciLimits(limits: PlayerLimits, time: ThinkingTime): UciLimits {
  const [whiteMs, blackMs] = time.remainingMs;
  const { timeControl, movetimeMs, nodes, depth } = limits;
  const clocks = {
    // If the opponent has no clock, send this player's clock for it.
    whiteMs: whiteMs ?? blackMs ?? 0,
    blackMs: blackMs ?? whiteMs ?? 0,
    whiteIncrementMs: time.incrementMs[0],
    blackIncrementMs: time.incrementMs[1],
    movesToGo: time.movesToGo,
  };
  return { nodes, depth, movetimeMs, clocks: timeControl === null ? null : clocks };
}

/** An engine with its name in reports. */
export type NamedEngine = EngineSpec & { readonly name: string };

/** If the user gave no name, starts the engine once and takes its `id name`. */
export async function nameEngine(spec: EngineSpec, chess960: boolean): Promise<Result<NamedEngine>> {
  if (spec.name !== null) return success({ ...spec, name: spec.name });
  try {
    const client = await startClient(spec, chess960);
    await client.close();
    return success({ ...spec, name: client.name });
  } catch (error) {
    if (error instanceof EngineError) return failure(error.message);
    throw error;
  }
}

export function createUciSource(spec: NamedEngine, limits: PlayerLimits, chess960: boolean): PlayerSource {
  return { name: spec.name, limits, create: () => UciPlayer.start(spec, limits, chess960) };
}
