/** The running games of a match side by side: board, last move, clocks, and what the engines think. */
import { formatClock, formatCount, formatScore } from '../../game/value-text.js';
import type { LiveBoard } from '../../protocol/replies.js';
import { ChessBoard } from '../board/chess-board.js';
import { getClockMs } from './match-session.js';

const LOW_MS = 10_000;

export function LiveBoards({ boards }: { readonly boards: readonly LiveBoard[] }) {
  const columns = Math.ceil(Math.sqrt(boards.length));
  const rows = Math.ceil(boards.length / columns);
  return (
    <ul class="live-boards" style={{ '--columns': columns, '--rows': rows }} aria-label="Running games">
      {boards.map((board) => (
        <li key={board.game}>
          <Player board={board} side={1} />
          <ChessBoard fen={board.fen} lastMove={listSquares(board)} isSmall />
          <Player board={board} side={0} />
          <p class="faint live-thought">
            Game {board.game + 1}, move {Math.floor(board.plies / 2) + 1}
            {board.score !== null && ` · ${formatScore(board.score, false)}`}
            {board.depth > 0 && ` · depth ${board.depth}`}
            {board.nodes > 0 && ` · ${formatCount(board.nodes)} nodes`}
          </p>
        </li>
      ))}
    </ul>
  );
}

function Player({ board, side }: { readonly board: LiveBoard; readonly side: 0 | 1 }) {
  const name = side === 0 ? board.white : board.black;
  const clockMs = getClockMs(board, side);
  const isRunning = isBlackToMove(board) === (side === 1);
  return (
    <div class={isRunning ? 'live-player player-running' : 'live-player'}>
      <span class={`player-color player-${side === 0 ? 'white' : 'black'}`} aria-hidden="true" />
      <span class="player-name">{name}</span>
      {clockMs !== null && (
        <span class={clockMs < LOW_MS ? 'clock clock-low' : 'clock'} role="timer" aria-label={`Clock of ${name}`}>
          {formatClock(clockMs)}
        </span>
      )}
    </div>
  );
}

function isBlackToMove({ fen }: LiveBoard): boolean {
  return fen.split(' ')[1] === 'b';
}

/** Of castling, where king and rook stood. */
function listSquares({ lastMove }: LiveBoard): string[] {
  return lastMove === null ? [] : [lastMove.slice(0, 2), lastMove.slice(2, 4)];
}
