/** Runs a perft in its own thread, so that `isready` and `stop` are answered while it counts. */
import { startThread, type Thread } from '#platform/threads.js';
import type { Move } from '../../chess/rules/index.js';
import type { GamePosition } from './game-position.js';
import type { PerftMessage, PerftTask } from './perft-worker.js';

interface PerftEvents {
  /** One legal move and the number of leaves behind it. */
  onMove(move: Move, nodes: number): void;
  /** If it was stopped, `isComplete` is false and the count is that of the reported moves. */
  onEnd(nodes: number, isComplete: boolean): void;
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
      { onMessage: (message) => this.receive(message), onError: () => this.end(false) },
    );
  }

  stop(): void {
    this.end(false);
  }

  private receive(message: PerftMessage): void {
    if (this.isOver) return;
    if (message === 'done') {
      this.end(true);
      return;
    }
    this.nodes += message.nodes;
    this.events.onMove(message.move, message.nodes);
  }

  private end(isComplete: boolean): void {
    if (this.isOver) return;
    this.isOver = true;
    void this.worker.terminate();
    this.events.onEnd(this.nodes, isComplete);
  }
}
