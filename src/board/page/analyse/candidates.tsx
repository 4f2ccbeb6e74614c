/**
 * What the engine says of moves. A candidate has a line; it unfolds to the replies, and its menu has what can be done with it.
 * All other moves have a row each, or the columns of lc0 (move-table.tsx). Numbers are from White's view.
 */
import { formatSan } from '../../../chess/rules/index.js';
import { describeLine, requireMove } from '../../game/board-moves.js';
import { computeWhiteWdl, formatScore, getWhiteWdl } from '../../game/page-text.js';
import type { Line, MoveRow } from '../../protocol/replies.js';
import { ChessBoard } from '../board/chess-board.js';
import { Button, Menu, MenuItem, toggle } from '../shell/controls.js';
import { moveInRow } from '../shell/keyboard.js';
import { storedSignal } from '../shell/stored.js';
import { copyText } from '../shell/user-files.js';
import { study } from '../study/study.js';
import { askForExplanation } from './explain-view.js';
import {
  analysedPosition,
  currentState,
  hover,
  hoveredBox,
  hoveredMoves,
  isBlackToMove,
  isOn,
  isRoomy,
  isThreat,
  lineCount,
  playMoves,
  pointedLine,
  previewFen,
  searchMoves,
  toggleSearchMove,
} from './live-analysis.js';
import { Facts } from './move-facts.js';
import { MoveTable } from './move-table.js';
import { Replies, toggleReplies, unfoldedLines } from './replies.js';

/** Moves of a line that is not unfolded. */
const FEW_MOVES = 24;
const showsOthers = storedSignal('otherMoves', isRoomy);
/** All moves with lc0's columns. */
const showsColumns = storedSignal('columns', false);

export function Candidates() {
  const state = currentState.value;
  const { lines = [], moves = [] } = state ?? {};
  const visits = moves.reduce((sum, row) => sum + row.visits, 0);
  const others = moves.filter(({ move }) => !lines.some(({ pv }) => pv[0] === move));
  // What is unfolded stays, though it is no candidate any more.
  const kept = others.filter(({ move }) => unfoldedLines.value.includes(move));
  const folded = others.filter((row) => !kept.includes(row));
  return (
    <>
      <ol class="lines" aria-label="Lines" onMouseLeave={() => hover([])}>
        {Array.from({ length: lineCount.value }, (_, index) => lines[index]).map((line, index) =>
          line === undefined || line.pv.length === 0 ? (
            <li key={index} class="candidate line-below faint">
              …
            </li>
          ) : (
            <Candidate key={index} line={line} row={moves.find(({ move }) => move === line.pv[0])} visits={visits} />
          ),
        )}
        {kept.map((row) => (
          <OtherMove key={row.move} row={row} visits={visits} />
        ))}
      </ol>
      {moves.length > 0 && (
        <div class="other-moves">
          <div class="other-head row">
            {!showsColumns.value && folded.length > 0 && (
              <Button
                label={`${folded.length} more ${folded.length === 1 ? 'move' : 'moves'}`}
                class="fold bare"
                aria-expanded={showsOthers.value}
                onClick={() => toggle(showsOthers)}
              />
            )}
            <span class="fill" />
            {searchMoves.value.length > 0 && (
              <Button
                label="All moves again"
                class="text-button bare"
                onClick={() => searchMoves.value.forEach(toggleSearchMove)}
              />
            )}
            <Button
              label="Columns"
              class="text-button bare"
              title="Every move with N, P, Q, D, M, U, S, V, as lc0 names them"
              aria-pressed={showsColumns.value}
              onClick={() => toggle(showsColumns)}
            />
          </div>
          {showsColumns.value ? (
            <MoveTable />
          ) : (
            showsOthers.value && (
              <ul aria-label="Other moves">
                {folded.map((row) => (
                  <OtherMove key={row.move} row={row} visits={visits} />
                ))}
              </ul>
            )
          )}
        </div>
      )}
      {isOn.value && previewFen.value !== null && <LinePreview fen={previewFen.value} />}
    </>
  );
}

interface CandidateProps {
  readonly line: Line;
  /** Undefined before the first statistics. */
  readonly row: MoveRow | undefined;
  /** Of all moves. */
  readonly visits: number;
}

/** One tab stop: the score. The arrows lead to the moves, and to the menu. */
function Candidate({ line, row, visits }: CandidateProps) {
  const position = analysedPosition.value;
  if (position === null) return null;
  const [uci] = line.pv;
  const isUnfolded = unfoldedLines.value.includes(uci);
  const moves = describeLine(position, isUnfolded ? line.pv : line.pv.slice(0, FEW_MOVES));
  const score = formatScore(line.score, isBlackToMove.value);
  return (
    <li
      class={`candidate line-below ${isUnfolded ? 'candidate-unfolded' : ''} ${pointedLine.value === line.pv ? 'candidate-pointed' : ''}`}
      data-keys
      onKeyDown={moveInRow}
    >
      <div class="candidate-row">
        <FoldButton uci={uci} san={moves[0].san} />
        <Button
          label={score}
          class={`line-score ${score.startsWith('−') ? 'line-score-black' : 'line-score-white'}`}
          title="Play the first move; the arrow keys lead to the others"
          onClick={() => playMoves(line.pv.slice(0, 1))}
        />
        <span class="line-moves">
          {moves.map(({ san, number }, ply) => {
            const show = ({ currentTarget }: Event): void => hover(line.pv.slice(0, ply + 1), currentTarget);
            return (
              <button
                // The focus stays in its place when the line changes.
                key={ply}
                type="button"
                class="line-move bare lit"
                tabIndex={-1}
                onClick={() => playMoves(line.pv.slice(0, ply + 1))}
                onMouseEnter={show}
                onFocus={show}
                onBlur={() => hover([])}
                // A long press.
                onContextMenu={(event) => {
                  event.preventDefault();
                  show(event);
                }}
              >
                {number !== '' && <span class="faint">{number}</span>}
                {san}
              </button>
            );
          })}
        </span>
        <Actions uci={uci} san={moves[0].san} text={describeMoves(moves)} />
      </div>
      {row !== undefined && (
        <Facts
          visits={row.visits}
          share={row.visits / Math.max(1, visits)}
          prior={row.prior}
          wdl={getWhiteWdl(line, isBlackToMove.value)}
        />
      )}
      {isUnfolded && <Replies uci={uci} />}
    </li>
  );
}

function OtherMove({ row, visits }: { readonly row: MoveRow; readonly visits: number }) {
  const position = analysedPosition.value;
  if (position === null) return null;
  const san = formatSan(position, requireMove(position, row.move));
  const isSearched = searchMoves.value.includes(row.move);
  return (
    <li
      class={isSearched ? 'other-move lit line-above other-move-searched' : 'other-move lit line-above'}
      onMouseEnter={() => hover([row.move])}
      onMouseLeave={() => hover([])}
      data-keys
      onKeyDown={moveInRow}
    >
      <div class="other-row row">
        <FoldButton uci={row.move} san={san} />
        <Button label={san} class="table-move bare strong" onClick={() => playMoves([row.move])} />
        <Facts
          visits={row.visits}
          share={row.visits / Math.max(1, visits)}
          prior={row.prior}
          wdl={row.visits === 0 || row.draw === null ? null : computeWhiteWdl(row.q, row.draw, isBlackToMove.value)}
        />
        <Actions uci={row.move} san={san} text={san} />
      </div>
      {unfoldedLines.value.includes(row.move) && <Replies uci={row.move} />}
    </li>
  );
}

function describeMoves(moves: ReturnType<typeof describeLine>): string {
  return moves.map(({ number, san }) => (number === '' ? san : `${number} ${san}`)).join(' ');
}

function FoldButton({ uci, san }: { readonly uci: string; readonly san: string }) {
  return (
    <Button
      label=""
      class="fold bare"
      tabIndex={-1}
      aria-label={`Replies to ${san}`}
      title="The whole line, and the replies"
      aria-expanded={unfoldedLines.value.includes(uci)}
      onClick={() => toggleReplies(uci)}
    />
  );
}

/** @param text for the clipboard */
function Actions({ uci, san, text }: { readonly uci: string; readonly san: string; readonly text: string }) {
  return (
    <Menu label={`More about ${san}`} icon="menu" class="candidate-menu bare" tabIndex={-1}>
      <MenuItem
        label="Search only this"
        role="menuitemcheckbox"
        aria-checked={searchMoves.value.includes(uci)}
        title="Search only this move, and others that are chosen so"
        onClick={() => toggleSearchMove(uci)}
      />
      {!isThreat.value && <MenuItem label="Explain" onClick={() => askForExplanation(uci)} />}
      <MenuItem label="Copy the line" onClick={() => copyText(text)} />
    </Menu>
  );
}

/** Pixels that the preview needs. */
const PREVIEW_HEIGHT = 270;

/** Where the line under the pointer leads, beside the pointer. */
function LinePreview({ fen }: { readonly fen: string }) {
  const position = analysedPosition.value;
  const line = position === null ? [] : describeLine(position, hoveredMoves.value);
  const last = hoveredMoves.value.at(-1) ?? '';
  const { left = 0, top = 0, bottom = 0 } = hoveredBox.value ?? {};
  const isBelow = bottom + PREVIEW_HEIGHT < innerHeight;
  return (
    <figure
      class="line-preview float small"
      aria-hidden="true"
      style={{
        left: `min(${left}px, 100vw - 250px)`,
        ...(isBelow ? { top: `${bottom + 4}px` } : { bottom: `${innerHeight - top + 4}px` }),
      }}
    >
      <ChessBoard
        fen={fen}
        orientation={study.orientation.value}
        lastMove={[last.slice(0, 2), last.slice(2, 4)]}
        isSmall
      />
      <figcaption>After {line.at(-1)?.san}</figcaption>
    </figure>
  );
}
