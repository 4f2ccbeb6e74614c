/** The moves of a game with comments, glyphs and variations, as lichess lays them out: two columns, variations in between. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { formatMoveNumber } from '../../game/board-moves.js';
import type { MoveNode } from '../../game/move-tree.js';
import { formatGlyphs, splitEngineNote } from '../../game/value-text.js';
import type { Study } from './study.js';

interface MoveListProps {
  readonly study: Study;
  /** Something after a move: its evaluation. */
  describe?(node: MoveNode): ComponentChildren;
}

export function MoveList({ study, describe }: MoveListProps) {
  void study.version.value;
  const { root } = study.tree.value;
  const element = useRef<HTMLElement>(null);
  const current = study.node.value;
  useEffect(() => {
    const list = element.current;
    const active = list?.querySelector<HTMLElement>('[aria-current]');
    if (!list || !active) return;
    const top = active.offsetTop - list.offsetTop;
    if (top < list.scrollTop || top + active.offsetHeight > list.scrollTop + list.clientHeight) {
      list.scrollTop = top - list.clientHeight / 2;
    }
  }, [current]);
  return (
    <section ref={element} class="move-list" aria-label="Moves">
      {root.comment !== '' && <p class="move-comment">{root.comment}</p>}
      {root.children.length === 0 ? (
        <p class="faint move-list-empty">Move a piece, or load a game.</p>
      ) : (
        <MainLine study={study} from={root} describe={describe} />
      )}
    </section>
  );
}

interface LineProps extends MoveListProps {
  readonly from: MoveNode;
}

/** Rows of two moves; whatever stands between two moves of the main line breaks the row. */
function MainLine({ study, from, describe }: LineProps) {
  const rows: ComponentChildren[] = [];
  let cells: ComponentChildren[] = [];
  const endRow = (key: string): void => {
    if (cells.length > 0)
      rows.push(
        <div class="move-row" key={key}>
          {cells}
        </div>,
      );
    cells = [];
  };
  for (let parent = from; parent.children.length > 0; parent = parent.children[0]) {
    const [node, ...variations] = parent.children;
    const isBlack = parent.fen.split(' ')[1] === 'b';
    if (!isBlack || cells.length === 0) {
      endRow(`row${parent.id}`);
      cells.push(
        <span class="move-number" key={`number${node.id}`}>
          {(parent.gamePly >> 1) + 1}
        </span>,
      );
      if (isBlack)
        cells.push(
          <span class="move-gap" key={`gap${node.id}`}>
            …
          </span>,
        );
    }
    cells.push(<MoveButton key={node.id} study={study} node={node} describe={describe} />);
    const { rest } = splitEngineNote(node.comment);
    if (rest === '' && variations.length === 0) continue;
    endRow(`row${node.id}`);
    rows.push(
      <div class="move-interrupt" key={`interrupt${node.id}`}>
        {rest !== '' && <p class="move-comment">{rest}</p>}
        {variations.map((variation) => (
          <Variation key={variation.id} study={study} node={variation} />
        ))}
      </div>,
    );
  }
  endRow('last');
  return <>{rows}</>;
}

function MoveButton({ study, node, describe }: { readonly node: MoveNode } & MoveListProps) {
  const isCurrent = study.node.value === node;
  return (
    <button
      type="button"
      class={`move ${glyphClass(node)}`}
      aria-current={isCurrent ? 'step' : undefined}
      onClick={() => study.go(node)}
    >
      <span class="move-san">
        {node.san}
        {formatGlyphs(node.nags)}
      </span>
      {describe === undefined ? <small>{splitEngineNote(node.comment).note}</small> : describe(node)}
    </button>
  );
}

function glyphClass({ nags }: MoveNode): string {
  if (nags.includes(4)) return 'move-blunder';
  if (nags.includes(2)) return 'move-mistake';
  if (nags.includes(6)) return 'move-dubious';
  return nags.includes(1) || nags.includes(3) ? 'move-good' : '';
}

/** A line in running text, with its own variations in brackets. */
function Variation({ study, node }: { readonly study: Study; readonly node: MoveNode }) {
  return (
    <div class="variation">
      <VariationMoves study={study} node={node} isFirst={true} />
    </div>
  );
}

function VariationMoves({
  study,
  node,
  isFirst,
}: {
  readonly study: Study;
  readonly node: MoveNode;
  readonly isFirst: boolean;
}) {
  const parts: ComponentChildren[] = [];
  let wantsNumber = isFirst;
  for (let at: MoveNode | undefined = node; at !== undefined; at = at.children[0]) {
    const isBlack = at.fen.split(' ')[1] === 'w';
    if (wantsNumber || !isBlack) {
      parts.push(
        <span class="variation-number" key={`n${at.id}`}>
          {formatMoveNumber(at.gamePly - 1, isBlack)}
        </span>,
      );
    }
    wantsNumber = false;
    parts.push(<MoveButton key={at.id} study={study} node={at} />);
    if (at.comment !== '') {
      parts.push(
        <span class="move-comment" key={`c${at.id}`}>
          {at.comment}
        </span>,
      );
      wantsNumber = true;
    }
    for (const other of at === node ? [] : (at.parent?.children.slice(1) ?? [])) {
      parts.push(
        <span class="variation-nested" key={`v${other.id}`}>
          (<VariationMoves study={study} node={other} isFirst={true} />)
        </span>,
      );
      wantsNumber = true;
    }
  }
  return <>{parts}</>;
}
