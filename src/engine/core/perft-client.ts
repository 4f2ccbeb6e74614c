/** Runs a perft in its own thread, so that `isready` and `stop` are answered while it counts. */
import { startThread, type Thread } from '#platform/threads.js';
import type { Move } from '../../chess/rules/index.js';
import type { GamePosition } from './game-position.js';
import type { PerftMessage, PerftTask } from './perft-worker.js';

interface PerftEvents {
  /** One legal move and the number of leaves behind it. */
  onMove(move: Move, nodes: number): void;
  /** @param cut why `nodes` counts the reported moves alone; null = every move was counted */
  onEnd(nodes: number, cut: string | null): void;
}

export class PerftClient {
  private readonly worker: Thread<never>;
  private nodes: number;
  private isOver = false;

  constructor(
    game: GamePosition,
    depth: number,
    private readonly events: PerftEvents,
  ) {
    this.nodes = depth === 0 ? 1 : 0;
    const data: PerftTask = { rootFen: game.rootFen, moves: [...game.moves], depth };
    this.worker = startThread<never, PerftMessage>(
      new URL('./perft-worker.js', import.meta.url),
      { name: 'perft', data },
      { onMessage: (message) => this.receive(message), onError: (error) => this.end(`failed: ${error.message}`) },
    );
  }

  stop(): void {
    this.end('stopped');
  }

  private receive(message: PerftMessage): void {
    if (this.isOver) return;
    if (message === 'done') {
      this.end(null);
      return;
    }
    this.nodes += message.nodes;
    this.events.onMove(message.move, message.nodes);
  }

  private end(cut: string | null): void {
    if (this.isOver) return;
    this.isOver = true;
    void this.worker.terminate();
    this.events.onEnd(this.nodes, cut);
  }
}
