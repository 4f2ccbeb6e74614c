/** The search tree as an outline that opens move by move: a picture of one moment, taken again on request. */
import { signal } from '@preact/signals';
import { useState } from 'preact/hooks';
import type { Position } from '../../../chess/rules/index.js';
import { describeLine, requireMove } from '../../game/board-moves.js';
import { formatCount, formatPercent, formatSigned } from '../../game/page-text.js';
import type { TreeNode } from '../../protocol/replies.js';
import { port, reportError } from '../port/engine-port.js';
import { Button } from '../shell/controls.js';
import { study } from '../study/study.js';
import { analysedPosition, currentState, getPlace, hover, isHere, type Place } from './live-analysis.js';

const DEPTH = 12;
/** Moves with a smaller share of the visits are not asked for. */
const LEAST_SHARE = 0.0005;
const FEW_CHILDREN = 8;

const picture = signal<(Place & { readonly tree: TreeNode }) | null>(null);

function takePicture(): void {
  const place = getPlace();
  const visits = currentState.value?.nodes ?? 0;
  const minVisits = Math.max(1, Math.round(visits * LEAST_SHARE));
  port.send('tree', { depth: DEPTH, minVisits }).answer.then((tree) => {
    if (tree !== null && isHere(place)) picture.value = { ...place, tree };
  }, reportError);
}

export function TreeOutline() {
  const shown = isHere(picture.value) ? picture.value.tree : null;
  return (
    <div class="tree-panel">
      <Button
        label={shown === null ? 'Show the search tree' : 'Take it again'}
        disabled={currentState.value === null}
        onClick={takePicture}
      />
      {shown === null ? (
        <p class="faint panel-hint">A picture of the tree as it is now. The search goes on.</p>
      ) : (
        <>
          <div class="tree-head" aria-hidden="true">
            {['Move', 'Visits', 'Share', 'Q', 'Prior'].map((name) => (
              <span key={name}>{name}</span>
            ))}
          </div>
          <ul class="tree" aria-label="Search tree: move, visits, share of the visits, value, prior">
            <Branches parent={shown} path={[]} />
          </ul>
        </>
      )}
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
      {children.map((child) => (
        <Branch
          key={child.move}
          node={child}
          path={path}
          san={describeLine(position, [child.move])[0]?.san ?? child.move}
          share={child.visits / Math.max(1, parent.visits)}
        />
      ))}
      {parent.children.length > children.length && (
        <li>
          <Button
            label={`${parent.children.length - children.length} more`}
            class="text-button"
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
  readonly san: string;
  readonly share: number;
}

const ENDS = { end: 'end of the game', tablebase: 'tablebase', repetition: 'repetition' };

function Branch({ node, path, san, share }: BranchProps) {
  const [isOpen, setIsOpen] = useState(false);
  const own = [...path, node.move];
  const hasChildren = node.children.length > 0;
  return (
    <li>
      <button
        type="button"
        class="tree-row"
        disabled={!hasChildren}
        aria-expanded={hasChildren ? isOpen : undefined}
        onClick={() => setIsOpen(!isOpen)}
        onMouseEnter={() => hover(own)}
        onMouseLeave={() => hover([])}
      >
        <span class="tree-move" style={{ '--depth': path.length }}>
          <span class="tree-sign" aria-hidden="true">
            {hasChildren ? (isOpen ? '▾' : '▸') : '·'}
          </span>
          {san}
        </span>
        <span class="tree-number">{formatCount(node.visits)}</span>
        <span class="tree-number faint">{formatPercent(share)}</span>
        <span class="tree-number">{formatSigned(node.wl, 3)}</span>
        <span class="tree-number faint" title="Prior">
          {formatPercent(node.prior)}
        </span>
        {node.terminal !== null && <span class="faint">{ENDS[node.terminal]}</span>}
      </button>
      {isOpen && (
        <ul>
          <Branches parent={node} path={own} />
        </ul>
      )}
    </li>
  );
}

function followPath(path: readonly string[]): Position {
  const position = (analysedPosition.value ?? study.position.value).clone();
  for (const uci of path) position.makeMove(requireMove(position, uci));
  return position;
}
