/** The thread of perft-client.ts: it counts the leaves behind each legal move and reports each count at once. */
import { endThread, getThreadData, postToParent } from '#platform/threads.js';
import { unwrap } from '../../base/util/index.js';
import { type Move, parseFen, perftDivide } from '../../chess/rules/index.js';

export interface PerftTask {
  readonly rootFen: string;
  readonly moves: readonly Move[];
  readonly depth: number;
}

export type PerftMessage = { readonly move: Move; readonly nodes: number } | 'done';

const { rootFen, moves, depth } = await getThreadData<PerftTask>();
const position = unwrap(parseFen(rootFen));
for (const move of moves) position.makeMove(move);
const counts: Iterable<PerftMessage> = depth > 0 ? perftDivide(position, depth) : [];
for (const count of counts) postToParent(count);
postToParent('done' satisfies PerftMessage);
endThread();
