/** The thread of perft-client.ts: it counts the leaves behind each legal move and reports each count at once. */
import { endThread, getThreadData, postToParent } from '#platform/threads.js';
import { unwrap } from '../../base/util/index.js';
import { listLegalMoves, type Move, parseFen, perft } from '../../chess/rules/index.js';

export interface PerftTask {
  readonly rootFen: string;
  readonly moves: readonly Move[];
  readonly depth: number;
}

export type PerftMessage = { readonly move: Move; readonly nodes: number } | 'done';

function countAll({ rootFen, moves, depth }: PerftTask, report: (message: PerftMessage) => void): void {
  const position = unwrap(parseFen(rootFen));
  for (const move of moves) position.makeMove(move);
  for (const move of depth > 0 ? listLegalMoves(position) : []) {
    position.makeMove(move);
    report({ move, nodes: perft(position, depth - 1) });
    position.unmakeMove();
  }
  report('done');
}

countAll(await getThreadData<PerftTask>(), postToParent);
endThread();
