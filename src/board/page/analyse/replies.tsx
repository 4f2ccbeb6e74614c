/** What the search thinks of the replies to a candidate: its tree, which opens move by move, as it was when it was asked for. */
import { computed, signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import type { Position } from '../../../chess/rules/index.js';
import { describeLine, requireMove } from '../../game/board-moves.js';
import { computeWhiteWdl } from '../../game/page-text.js';
import type { TreeNode } from '../../protocol/replies.js';
import { port, reportError } from '../port/engine-port.js';
import { Button } from '../shell/controls.js';
import {
  analysedPosition,
  currentState,
  getPlace,
  hover,
  isBlackToMove,
  isHere,
  type Place,
  playMoves,
  takeOver,
} from './live-analysis.js';
import { Facts } from './move-facts.js';

const DEPTH = 12;
/** Moves with a smaller share of the visits are not asked for. */
const LEAST_SHARE = 0.0005;
const FEW_CHILDREN = 8;
const GONE = 'The engine has searched something else since.';

/** Lines from the position on the board, in UCI, to whose last move the replies are shown. */
const unfolded = signal<(Place & { readonly lines: readonly string[] }) | null>(null);
export const unfoldedLines = computed(() => (isHere(unfolded.value) ? unfolded.value.lines : []));

export function toggleReplies(line: string): void {
  const known = unfoldedLines.value;
  const lines = known.includes(line) ? known.filter((other) => other !== line) : [...known, line];
  unfolded.value = { ...getPlace(), lines };
}

const picture = signal<(Place & { readonly tree: TreeNode }) | null>(null);
/** The engine has another tree by now: it has searched for a review, a game or another page. */
const isGone = signal(false);

function takePicture(): void {
  const place = getPlace();
  const visits = currentState.value?.nodes ?? 0;
  const minVisits = Math.max(1, Math.round(visits * LEAST_SHARE));
  port.send('tree', { depth: DEPTH, minVisits }).answer.then((tree) => {
    isGone.value = tree === null;
    if (tree !== null && isHere(place)) picture.value = { ...place, tree };
  }, reportError);
}

/** @param uci the candidate */
export function Replies({ uci }: { readonly uci: string }) {
  useEffect(takePicture, []);
  const shown = isHere(picture.value) ? picture.value.tree.children.find(({ move }) => move === uci) : undefined;
  return (
    <div class="replies">
      {shown !== undefined && shown.children.length > 0 ? (
        <ul class="tree" aria-label="Replies: move, share of the visits, prior, result">
          <Branches parent={shown} path={[uci]} />
        </ul>
      ) : (
        <p class="faint">
          {shown !== undefined
            ? 'The search has not gone beyond this move yet.'
            : isGone.value
              ? GONE
              : 'Asking the search …'}
        </p>
      )}
      <Button
        label={isGone.value ? 'Analyse again' : 'Look again'}
        class="text-button bare"
        title={isGone.value ? GONE : 'The search has gone on since then'}
        onClick={isGone.value ? takeOver : takePicture}
      />
    </div>
  );
}

/** @param path UCI moves from the position on the board to the parent */
function Branches({ parent, path }: { readonly parent: TreeNode; readonly path: readonly string[] }) {
  const [showsAll, setShowsAll] = useState(false);
  const children = showsAll ? parent.children : parent.children.slice(0, FEW_CHILDREN);
  const position = followPath(path);
  return (
    <>
      {position !== null &&
        children.map((child) => (
          <Branch
            key={child.move}
            node={child}
            path={path}
            words={describeLine(position, [child.move])[0]}
            share={child.visits / Math.max(1, parent.visits)}
          />
        ))}
      {parent.children.length > children.length && (
        <li>
          <Button
            label={`${parent.children.length - children.length} more`}
            class="text-button bare"
            onClick={() => setShowsAll(true)}
          />
        </li>
      )}
    </>
  );
}

interface BranchProps {
  readonly node: TreeNode;
  readonly path: readonly string[];
  readonly words: ReturnType<typeof describeLine>[number] | undefined;
  readonly share: number;
}

const ENDS = { end: 'end of the game', tablebase: 'tablebase', repetition: 'repetition' };

function Branch({ node, path, words, share }: BranchProps) {
  const own = [...path, node.move];
  const isOpen = unfoldedLines.value.includes(own.join(' '));
  const { move, visits, prior, wl, d, terminal, children } = node;
  const show = ({ currentTarget }: Event): void => hover(own, currentTarget);
  return (
    <li>
      <div class="tree-row lit row">
        <Button
          label=""
          class="fold bare"
          aria-label={`Replies to ${words?.san}`}
          disabled={children.length === 0}
          aria-expanded={isOpen}
          onClick={() => toggleReplies(own.join(' '))}
        />
        <Button
          label={words?.san ?? move}
          class="table-move bare strong"
          onClick={() => playMoves(own)}
          onMouseEnter={show}
          onFocus={show}
          onMouseLeave={() => hover([])}
          onBlur={() => hover([])}
        />
        <Facts
          visits={visits}
          share={share}
          prior={prior}
          wdl={computeWhiteWdl(wl, d, isBlackToMove.value !== (path.length % 2 === 1))}
        />
        {terminal !== null && <span class="faint">{ENDS[terminal]}</span>}
      </div>
      {isOpen && (
        <ul>
          <Branches parent={node} path={own} />
        </ul>
      )}
    </li>
  );
}

/** Null where the board has moved on. */
function followPath(path: readonly string[]): Position | null {
  const position = analysedPosition.value?.clone() ?? null;
  for (const uci of path) position?.makeMove(requireMove(position, uci));
  return position;
}
