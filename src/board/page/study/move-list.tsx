/** The moves of a game with comments, glyphs and variations, as lichess lays them out: two columns, variations in between. */
import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { formatMoveNumber } from '../../game/board-moves.js';
import { findNode, type MoveNode } from '../../game/move-tree.js';
import { formatGlyphs, GLYPHS, isBlacksTurn, splitEngineNote } from '../../game/page-text.js';
import { Button } from '../shell/controls.js';
import { moveInRow } from '../shell/keyboard.js';
import { addNotice } from '../shell/notices.js';
import type { Study } from './study.js';

interface MoveListProps {
  readonly study: Study;
  /** Something after a move: its evaluation. */
  describe?(node: MoveNode): ComponentChildren;
  /** Moves have a menu. */
  readonly isEditable?: boolean;
}

/** When a finger came down on the list. */
let pressedAtMs = Number.POSITIVE_INFINITY;
const LONG_PRESS_MS = 500;

/** The move whose menu is open, and where on the screen. */
const menu = signal<{ readonly node: MoveNode; readonly x: number; readonly y: number } | null>(null);

export function MoveList({ study, describe, isEditable = false }: MoveListProps) {
  const { root } = study.tree.value;
  const element = useRef<HTMLElement>(null);
  const current = study.node.value;
  useLayoutEffect(() => {
    const list = element.current;
    if (list === null) return;
    showCurrent(list);
    // What stands above the list grows when the engine is switched on.
    const observer = new ResizeObserver(() => showCurrent(list));
    observer.observe(list);
    return () => observer.disconnect();
  }, [current, study.version.value]);
  return (
    <section
      ref={element}
      class="move-list"
      aria-label="Moves"
      onPointerDown={(event) => {
        pressedAtMs = event.pointerType === 'touch' ? event.timeStamp : Number.POSITIVE_INFINITY;
      }}
      onPointerUp={(event) => {
        // A finger that stays: not every browser makes a `contextmenu` of it.
        const isLong = event.timeStamp - pressedAtMs >= LONG_PRESS_MS;
        if (isLong) event.target?.dispatchEvent(new MouseEvent('contextmenu', event));
      }}
      onContextMenu={(event) => {
        const id = (event.target as HTMLElement).closest<HTMLElement>('[data-node]')?.dataset.node;
        const node = id === undefined ? null : findNode(root, (own) => own.id === Number(id));
        if (!isEditable || node === null) return;
        event.preventDefault();
        // The browser's own: the menu opens with the finger's release, which would close it.
        if (event.isTrusted && pressedAtMs < event.timeStamp) return;
        const open = (): void => {
          menu.value = { node, x: event.clientX, y: event.clientY };
        };
        // Where the button opens a menu as it goes down, its release beside the menu would close it.
        if (event.buttons === 0) setTimeout(open);
        else addEventListener('pointerup', () => setTimeout(open), { once: true });
      }}
    >
      {root.comment !== '' && <p class="move-comment">{root.comment}</p>}
      {root.children.length === 0 ? (
        <p class="faint move-list-empty">{isEditable ? 'Move a piece, or load a game.' : 'No moves yet.'}</p>
      ) : (
        <MainLine study={study} from={root} describe={describe} />
      )}
      {isEditable && menu.value !== null && <MoveMenu study={study} {...menu.value} />}
    </section>
  );
}

/** Scrolls the list, and nothing else, until the current move is in sight. */
function showCurrent(list: HTMLElement): void {
  const active = list.querySelector<HTMLElement>('[aria-current]');
  if (active === null) {
    list.scrollTop = 0;
    return;
  }
  const [outer, inner] = [list.getBoundingClientRect(), active.getBoundingClientRect()];
  if (inner.top >= outer.top && inner.bottom <= outer.bottom) return;
  list.scrollTop += inner.top - outer.top - (outer.height - inner.height) / 2;
}

/** What can be done with a move. The browser closes it at a click elsewhere, and at Escape. */
function MoveMenu({
  study,
  node,
  x,
  y,
}: {
  readonly study: Study;
  readonly node: MoveNode;
  readonly x: number;
  readonly y: number;
}) {
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const popover = element.current;
    popover?.showPopover();
    popover?.querySelector('button')?.focus();
  }, [node]);
  const close = (): void => {
    menu.value = null;
  };
  const act = (run: () => void) => () => {
    close();
    run();
  };
  return (
    <div
      ref={element}
      class="move-menu"
      popover="auto"
      role="menu"
      data-keys
      onKeyDown={moveInRow}
      aria-label={`Move ${node.san}`}
      style={{ left: `min(${x}px, 100vw - 230px)`, top: `min(${y}px, 100dvh - 190px)` }}
      onToggle={(event) => {
        if ('newState' in event && event.newState === 'closed') close();
      }}
    >
      <div class="menu-glyphs">
        {GLYPHS.map(({ nag, sign, word }) => (
          <Button
            key={nag}
            label={sign}
            role="menuitemcheckbox"
            aria-checked={node.nags.includes(nag)}
            aria-label={word}
            title={word}
            onClick={act(() => study.toggleGlyph(node, nag))}
          />
        ))}
      </div>
      <Button label="Comment …" role="menuitem" onClick={act(() => comment(study, node))} />
      <Button label="Move the variation up" role="menuitem" onClick={act(() => study.promote(node))} />
      <Button label="Delete from here" role="menuitem" onClick={act(() => deleteFrom(study, node))} />
    </div>
  );
}

/** Deletes at once, and offers to take it back. */
export function deleteFrom(study: Study, node: MoveNode): void {
  const change = study.remove(node);
  if (change === undefined) return;
  const run = (): void => {
    if (study.undo(change) === '') addNotice('note', 'Show the game again, then press Undo: this game is another one');
  };
  addNotice('note', change.words, { label: 'Undo', run });
}

function comment(study: Study, node: MoveNode): void {
  study.go(node);
  const details = document.querySelector<HTMLDetailsElement>('.annotation');
  if (details === null) return;
  details.open = true;
  details.querySelector('textarea')?.focus();
}

interface LineProps extends MoveListProps {
  readonly from: MoveNode;
}

/** Rows of two moves; whatever stands between two moves of the main line breaks the row. */
function MainLine({ study, from, describe }: LineProps) {
  // Nodes change in place, so that their properties say nothing of it.
  void study.version.value;
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
    const isBlack = isBlacksTurn(parent.fen);
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
          <div class="variation" key={variation.id}>
            <VariationMoves study={study} node={variation} />
          </div>
        ))}
      </div>,
    );
  }
  endRow('last');
  return <>{rows}</>;
}

function MoveButton({ study, node, describe }: { readonly node: MoveNode } & MoveListProps) {
  void study.version.value;
  const current = study.node.value;
  const isCurrent = current === node;
  // The list is one tab stop; keys step through the game.
  const isStop = isCurrent || (current.parent === null && node.parent === current && current.children[0] === node);
  return (
    <button
      type="button"
      class={`move ${glyphClass(node)}`}
      data-node={node.id}
      aria-current={isCurrent ? 'step' : undefined}
      tabIndex={isStop ? 0 : -1}
      onClick={() => study.go(node)}
    >
      <span class="move-san">
        {node.san}
        {formatGlyphs(node.nags)}
      </span>
      {describe === undefined ? (
        <small>{splitEngineNote(node.comment, !isBlacksTurn(node.fen)).note}</small>
      ) : (
        describe(node)
      )}
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
function VariationMoves({ study, node }: { readonly study: Study; readonly node: MoveNode }) {
  void study.version.value;
  const parts: ComponentChildren[] = [];
  let wantsNumber = true;
  for (let at: MoveNode | undefined = node; at !== undefined; at = at.children[0]) {
    const isBlack = !isBlacksTurn(at.fen);
    if (wantsNumber || !isBlack) {
      parts.push(
        <span class="variation-number" key={`n${at.id}`}>
          {formatMoveNumber(at.gamePly - 1, isBlack)}
        </span>,
      );
    }
    wantsNumber = false;
    parts.push(<MoveButton key={at.id} study={study} node={at} />);
    const { rest } = splitEngineNote(at.comment);
    if (rest !== '') {
      parts.push(
        <span class="move-comment" key={`c${at.id}`}>
          {rest}
        </span>,
      );
      wantsNumber = true;
    }
    for (const other of at === node ? [] : (at.parent?.children.slice(1) ?? [])) {
      parts.push(
        <span class="variation-nested" key={`v${other.id}`}>
          (<VariationMoves study={study} node={other} />)
        </span>,
      );
      wantsNumber = true;
    }
  }
  return <>{parts}</>;
}
