/**
 * The moves of a game with comments, glyphs, variations and evaluations: two columns, variations in between (game/move-lines.ts
 * lays them out). What a review says stands at its place, although it is not part of the game. A step changes two buttons alone:
 * the list itself is drawn again when the game changes.
 */
import { signal, useComputed, useSignalEffect } from '@preact/signals';
import { type ComponentChildren, Fragment } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { unwrap } from '../../../base/util/index.js';
import { parseSan } from '../../../chess/rules/index.js';
import { formatMoveNumber } from '../../game/board-moves.js';
import { describeGlyph, MOVE_GLYPHS, sortGlyphs } from '../../game/glyphs.js';
import { type LinePart, layOutVariations, type MoveLine } from '../../game/move-lines.js';
import { findNode, type MoveNode } from '../../game/move-tree.js';
import { readClock, readCommentBefore, readEvaluation } from '../../game/move-tree-text.js';
import { isBlacksTurn, splitEngineNote } from '../../game/page-text.js';
import { getThought } from '../analyse/live-analysis.js';
import { isShown, review } from '../review/review-session.js';
import { Button } from '../shell/controls.js';
import { type KeyBindings, moveInRow } from '../shell/keyboard.js';
import { addNotice } from '../shell/notices.js';
import { openGamesRoom } from './open-games.js';
import { study as mainStudy, type Study } from './study.js';

interface MoveListProps {
  readonly study: Study;
  /** Moves have a menu, comments can be written, and a review is shown. */
  readonly isEditable?: boolean;
}

interface NodeProps extends MoveListProps {
  readonly node: MoveNode;
}

/** When a finger came down on the list. */
let pressedAtMs = Number.POSITIVE_INFINITY;
const LONG_PRESS_MS = 500;

/** The move whose menu is open, and where on the screen. */
const menu = signal<{ readonly node: MoveNode; readonly x: number; readonly y: number } | null>(null);
/** The comment that is being written: that of a move, or the one before it. */
const edited = signal<{ readonly node: MoveNode; readonly isBefore: boolean } | null>(null);

/** For the move on the board. */
export const MOVE_KEYS: KeyBindings = {
  ...Object.fromEntries(
    MOVE_GLYPHS.map(({ nag }) => [
      `glyph${nag}`,
      () => mainStudy.node.value.parent !== null && mainStudy.toggleGlyph(mainStudy.node.value, nag),
    ]),
  ),
  comment: () => comment(mainStudy.node.value),
};

function comment(node: MoveNode, isBefore = false): void {
  edited.value = { node, isBefore };
}

export function MoveList({ study, isEditable = false }: MoveListProps) {
  const element = useRef<HTMLElement>(null);
  useSignalEffect(() => {
    void [study.node.value, study.version.value];
    // The buttons have changed by then.
    const frame = requestAnimationFrame(() => element.current && showCurrent(element.current));
    return () => cancelAnimationFrame(frame);
  });
  useEffect(() => {
    const list = element.current;
    if (list === null) return;
    // What stands above the list grows when the engine is switched on.
    const observer = new ResizeObserver(() => showCurrent(list));
    observer.observe(list);
    return () => observer.disconnect();
  }, []);
  const moves = useMemo(() => <MainLine study={study} isEditable={isEditable} />, [study, isEditable]);
  return (
    <section
      ref={element}
      class="move-list line-above"
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
        const node = id === undefined ? null : findNode(study.tree.value.root, (own) => own.id === Number(id));
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
      {moves}
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
function MoveMenu({ study, node, x, y }: NodeProps & { readonly x: number; readonly y: number }) {
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const popover = element.current;
    popover?.showPopover();
    popover?.querySelector('button')?.focus();
  }, [node]);
  const close = (): void => {
    menu.value = null;
  };
  const renderItem = (label: string, run: () => void) => (
    <Button
      label={label}
      role="menuitem"
      onClick={() => {
        close();
        run();
      }}
    />
  );
  const startsLine = node.parent !== null && node.parent.children[0] !== node;
  return (
    <div
      ref={element}
      class="move-menu float"
      popover="auto"
      role="menu"
      data-keys
      onKeyDown={moveInRow}
      aria-label={`Move ${node.san}`}
      style={{ left: `min(${x}px, 100vw - 230px)`, top: `min(${y}px, 100dvh - 220px)` }}
      onToggle={(event) => {
        if ('newState' in event && event.newState === 'closed') close();
      }}
    >
      <div class="menu-glyphs">
        {MOVE_GLYPHS.map(({ nag, sign, word }) => (
          <Button
            key={nag}
            label={sign}
            role="menuitemcheckbox"
            aria-checked={node.nags.includes(nag)}
            aria-label={word}
            title={`${word} (${nag})`}
            onClick={() => {
              close();
              study.toggleGlyph(node, nag);
            }}
          />
        ))}
      </div>
      {renderItem('Comment …', () => comment(node))}
      {startsLine && renderItem('Comment before the line …', () => comment(node, true))}
      {renderItem('Move the variation up', () => study.promote(node))}
      {renderItem('Delete from here', () => deleteFrom(study, node))}
    </div>
  );
}

/** Deletes at once, and offers to take it back. */
function deleteFrom(study: Study, node: MoveNode): void {
  const change = study.remove(node);
  if (change === undefined) return;
  const run = (): void => {
    if (study.undo(change) === '') addNotice('note', 'Show the game again, then press Undo: this game is another one');
  };
  addNotice('note', change.words, { label: 'Undo', run });
}

/** Rows of two moves; whatever stands between two moves of the main line breaks the row. */
function MainLine({ study, isEditable }: MoveListProps) {
  // Nodes change in place, so that their properties say nothing of it.
  void study.version.value;
  const { root } = study.tree.value;
  const layer = isEditable && isShown.value ? review.value : null;
  const props = { study, isEditable };
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
  const interrupt = (key: string, parts: ComponentChildren): void => {
    endRow(`row${key}`);
    rows.push(
      <div class="move-interrupt raised" key={key}>
        {parts}
      </div>,
    );
  };
  if (hasComment(root, false)) rows.push(<Comment key="start" node={root} {...props} />);
  for (let parent = root; parent.children.length > 0; parent = parent.children[0]) {
    const [node] = parent.children;
    const isBlack = isBlacksTurn(parent.fen);
    if (hasComment(node, true)) interrupt(`before${node.id}`, <Comment node={node} isBefore {...props} />);
    if (!isBlack || cells.length === 0) {
      endRow(`row${parent.id}`);
      cells.push(
        <span class="move-number faint raised" key={`number${node.id}`}>
          {(parent.gamePly >> 1) + 1}
        </span>,
      );
      if (isBlack)
        cells.push(
          <span class="move-gap faint" key={`gap${node.id}`}>
            …
          </span>,
        );
    }
    const remark = layer?.remarkOn(node);
    cells.push(<MoveButton key={node.id} node={node} nag={remark?.nag} {...props} />);
    const lines = layOutVariations(parent);
    const hasWords = hasComment(node, false) || (remark !== undefined && remark.text !== '');
    if (!hasWords && lines.length === 0) continue;
    interrupt(
      `interrupt${node.id}`,
      <>
        {hasComment(node, false) && <Comment node={node} {...props} />}
        {remark !== undefined && remark.text !== '' && <p class="move-comment move-remark">{remark.text}</p>}
        {lines.map((line, index) => (
          <Line key={index} line={line} main={node} {...props} />
        ))}
        {remark !== undefined && remark.betterLine.length > 0 && (
          <BetterLine node={node} sans={remark.betterLine} {...props} />
        )}
      </>,
    );
  }
  endRow('last');
  if (root.children.length > 0) return <>{rows}</>;
  return (
    <>
      {rows}
      <p class="faint move-list-empty">
        {isEditable ? 'Move a piece, or ' : 'No moves yet.'}
        {isEditable && <Button label="load a game" class="text-button" onClick={openGamesRoom} />}
      </p>
    </>
  );
}

function hasComment(node: MoveNode, isBefore: boolean): boolean {
  const { value } = edited;
  if (value?.node === node && value.isBefore === isBefore) return true;
  return isBefore ? readCommentBefore(node) !== '' : splitEngineNote(node.comment).rest !== '';
}

/** Becomes a field where it stands. */
function Comment({ study, node, isEditable, isBefore = false }: NodeProps & { readonly isBefore?: boolean }) {
  void study.version.value;
  const { value } = edited;
  if (value?.node === node && value.isBefore === isBefore) return <CommentField study={study} {...value} />;
  const text = isBefore ? readCommentBefore(node) : splitEngineNote(node.comment).rest;
  if (text === '') return null;
  if (isEditable !== true) return <span class="move-comment">{text}</span>;
  return (
    <button type="button" class="move-comment bare" title="Change the comment" onClick={() => comment(node, isBefore)}>
      {text}
    </button>
  );
}

function CommentField({ study, node, isBefore }: { readonly study: Study; node: MoveNode; isBefore: boolean }) {
  const field = useRef<HTMLTextAreaElement>(null);
  // With the picture: the next key is the field's.
  useLayoutEffect(() => field.current?.focus(), []);
  const close = (): void => {
    if (edited.value?.node === node) edited.value = null;
  };
  return (
    <textarea
      ref={field}
      class="move-comment"
      aria-label="Comment"
      placeholder={isBefore ? `Comment before ${node.san}` : `Comment on ${node.san || 'the start'}`}
      value={isBefore ? readCommentBefore(node) : node.comment}
      onInput={({ currentTarget: { value } }) =>
        study.annotate(node, isBefore ? { commentBefore: value } : { comment: value })
      }
      onBlur={close}
      onKeyDown={(event) => {
        if (event.key === 'Escape' || (event.key === 'Enter' && (event.ctrlKey || event.metaKey))) {
          event.preventDefault();
          close();
        }
      }}
    />
  );
}

function MoveButton({ study, node, nag = 0, isEditable }: NodeProps & { readonly nag?: number | undefined }) {
  void study.version.value;
  const place = useComputed(() => {
    const { value: at } = study.node;
    if (at === node) return 'current';
    if (node.parent !== at) return '';
    if (at.children.length > 1 && study.next.value === node) return 'chosen';
    return at.parent === null && at.children[0] === node ? 'first' : '';
  }).value;
  const nags = sortGlyphs(nag === 0 ? node.nags : [...node.nags, nag]);
  const thought = isEditable === true ? getThought(node).value : null;
  const evaluation = readEvaluation(node, isEditable === true && isShown.value, thought);
  const clock = readClock(node);
  return (
    <button
      type="button"
      class={`move bare lit ${getGlyphClass(nags)} ${place === 'chosen' ? 'move-chosen' : ''}`}
      data-node={node.id}
      aria-current={place === 'current' ? 'step' : undefined}
      // The list is one tab stop; keys step through the game.
      tabIndex={place === 'current' || place === 'first' ? 0 : -1}
      onClick={() => study.go(node)}
    >
      <span class="move-san">
        {node.san}
        {nags.map((own) => (
          <GlyphSign key={own} nag={own} />
        ))}
      </span>
      {(clock !== '' || evaluation !== null) && (
        <span class="move-facts small">
          {clock !== '' && (
            <span class="move-clock cut" title="Clock">
              {clock}
            </span>
          )}
          {evaluation !== null && <small title={evaluation.source}>{evaluation.text}</small>}
        </span>
      )}
    </button>
  );
}

/** Signs that many fonts lack, 16 by 16. */
const DRAWN: Readonly<Record<string, string>> = {
  '⩲': 'M8 1v8M4 5h8M3 12h10M3 15h10',
  '⩱': 'M3 2h10M3 5h10M8 7v8M4 11h8',
  '⨀': 'M14 8a6 6 0 1 0-12 0 6 6 0 0 0 12 0M8 7v2',
  '⟳': 'M13 5a6 6 0 1 0 1 4M14 1v4h-4',
  '⌓': 'M2 12a6 6 0 0 1 12 0z',
};

function GlyphSign({ nag }: { readonly nag: number }) {
  const { sign, word } = describeGlyph(nag);
  const path = DRAWN[sign];
  return (
    <span class={nag > 6 ? 'glyph glyph-position' : 'glyph'} title={word}>
      {path === undefined ? (
        sign
      ) : (
        <svg viewBox="0 0 16 16" role="img" aria-label={word}>
          <path d={path} />
        </svg>
      )}
    </span>
  );
}

export function getGlyphClass(nags: readonly number[]): string {
  if (nags.includes(4)) return 'move-blunder';
  if (nags.includes(2)) return 'move-mistake';
  if (nags.includes(6)) return 'move-dubious';
  return nags.includes(1) || nags.includes(3) ? 'move-good' : '';
}

/** Plies of a computer's line while the board shows something else. */
const CUT_PLIES = 3;

interface OneLineProps extends MoveListProps {
  readonly line: MoveLine;
  /** The move of the main line that it varies. */
  readonly main: MoveNode;
}

function Line({ line, main, ...props }: OneLineProps) {
  const { depth, parts, isComputer } = line;
  const isCut = useComputed(() => {
    const { value: at } = props.study.node;
    const isOn = parts.some((part) => typeof part === 'object' && 'node' in part && part.node === at);
    return isComputer && at !== main && at !== main.parent && !isOn;
  }).value;
  return (
    <div class="variation" style={{ '--depth': Math.min(depth, 12) }}>
      {(isCut ? parts.slice(0, CUT_PLIES) : parts).map((part, index, shown) => renderPart(part, index, shown, props))}
      {isCut && parts.length > CUT_PLIES && '…'}
    </div>
  );
}

/** A number and brackets stay on the line of their move. */
function renderPart(part: LinePart, index: number, all: readonly LinePart[], props: MoveListProps): ComponentChildren {
  if (typeof part === 'string') return null;
  const behind = all.slice(index + 1);
  const end = behind.findIndex((next) => next !== ')');
  const closing = ')'.repeat(end === -1 ? behind.length : end);
  if ('comment' in part)
    return (
      <Fragment key={index}>
        <Comment node={part.comment} isBefore={part.isBefore} {...props} />
        {closing}
      </Fragment>
    );
  return (
    <span key={index} class="move-group">
      {all[index - 1] === '(' && '('}
      {part.hasNumber && <MoveNumber node={part.node} />}
      <MoveButton node={part.node} {...props} />
      {closing}
    </span>
  );
}

function MoveNumber({ node: { gamePly } }: { readonly node: Pick<MoveNode, 'gamePly'> }) {
  return <span class="variation-number faint">{formatMoveNumber(gamePly - 1, gamePly % 2 === 0)}</span>;
}

/** What the review would have played in place of a move: a click on one of its moves takes the line into the game. */
function BetterLine({ study, node, sans }: NodeProps & { readonly sans: readonly string[] }) {
  const isCut = useComputed(() => study.node.value !== node && study.node.value !== node.parent).value;
  const play = (count: number): void => {
    study.go(node.parent ?? node);
    for (const san of sans.slice(0, count)) study.play(unwrap(parseSan(study.position.value, san)));
  };
  return (
    <div class="variation" style={{ '--depth': 1 }}>
      {(isCut ? sans.slice(0, CUT_PLIES) : sans).map((san, index) => (
        <Fragment key={index}>
          {(index === 0 || (node.gamePly + index) % 2 === 1) && <MoveNumber node={{ gamePly: node.gamePly + index }} />}
          <Button label={san} class="move bare lit move-better" tabIndex={-1} onClick={() => play(index + 1)} />
        </Fragment>
      ))}
      {isCut && sans.length > CUT_PLIES && '…'}
    </div>
  );
}
