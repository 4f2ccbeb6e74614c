/** The thread of mate-client.ts: it looks for short mates, one task after the other. */
import { onParentMessage, postToParent } from '#platform/threads.js';
import { unwrap } from '../../base/util/index.js';
import { findMate, type MateAnswer, type MateQuestion, type Move, parseFen } from '../../chess/rules/index.js';

/** A position with its game, because repetitions count, and the mate to look for. */
export interface MateTask {
  readonly rootFen: string;
  readonly moves: readonly Move[];
  readonly question: MateQuestion;
}

function solve({ rootFen, moves, question }: MateTask): MateAnswer {
  const position = unwrap(parseFen(rootFen));
  for (const move of moves) position.makeMove(move);
  return findMate(position, question);
}

onParentMessage<MateTask>((task) => postToParent(solve(task)));
