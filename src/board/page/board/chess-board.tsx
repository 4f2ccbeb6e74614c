/**
 * The board: chessground inside of a component. The component owns nothing but the element; what is shown follows from its
 * properties. chessground has no words for screen readers, so that the position is also there as text.
 */
import { Chessground } from '@lichess-org/chessground';
import type { Api } from '@lichess-org/chessground/api';
import type { Config } from '@lichess-org/chessground/config';
import type { DrawShape } from '@lichess-org/chessground/draw';
import type { Key, SquareClasses } from '@lichess-org/chessground/types';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { type Position, parseFen } from '../../../chess/rules/index.js';
import { getArrow } from '../../game/board-moves.js';
import { describeBoard, isBlacksTurn } from '../../game/page-text.js';
import type { PlayerSide } from '../../game/played-game.js';
import { playMoveSound, reducesMotion } from '../shell/appearance.js';
import { ownsArrows } from '../shell/keyboard.js';
import { spoken } from '../shell/notices.js';

export type Side = PlayerSide;

/** Where an arrow for a UCI move stands on a board. */
export function point(position: Position, uci: string, isChess960: boolean): { orig: Key; dest: Key } {
  const [orig, dest] = getArrow(position, uci, isChess960) as [Key, Key];
  return { orig, dest };
}

interface BoardProps {
  readonly fen: string;
  /** White when left out. */
  readonly orientation?: Side;
  /** From square → to squares; none where nobody may move. */
  readonly dests?: ReadonlyMap<string, readonly string[]>;
  /** Whose pieces may be dragged; nobody's when left out. */
  readonly movable?: Side | 'none';
  readonly lastMove: readonly string[];
  readonly shapes?: readonly DrawShape[];
  /** Square → CSS class. */
  readonly squareClasses?: ReadonlyMap<string, string>;
  readonly canPremove?: boolean;
  readonly isSmall?: boolean;
  /** Arrows and circles of the user's. */
  readonly drawn?: readonly DrawShape[];
  /** The user has drawn, or wiped off what was drawn. */
  onDraw?(shapes: readonly DrawShape[]): void;
  /** @param isPremove it was made in advance, while the opponent was thinking */
  onMove?(from: string, to: string, isPremove: boolean): void;
  /** Called with the board when the position is new: the moment to play a premove. */
  onReady?(api: Api): void;
}

/** A board of chessground for as long as its component is shown. @returns the refs of its element and of the board itself */
export function useChessground(create: () => Config) {
  const element = useRef<HTMLDivElement>(null);
  const board = useRef<Api | null>(null);
  useEffect(() => {
    const host = element.current;
    if (host === null) return undefined;
    board.current = Chessground(host, { disableContextMenu: true, ...create() });
    // A page that grows or a panel that opens changes the size of the squares.
    const observer = new ResizeObserver(() => {
      // Arrows on a board that has left the page would have no place.
      if (host.clientWidth > 0) board.current?.redrawAll();
    });
    observer.observe(host);
    return () => {
      observer.disconnect();
      board.current?.destroy();
      board.current = null;
    };
  }, []);
  return { element, board };
}

export function ChessBoard(props: BoardProps) {
  const latest = useRef(props);
  latest.current = props;
  const { element, board } = useChessground(() => ({
    ...createConfig(props),
    coordinates: props.isSmall !== true,
    viewOnly: props.isSmall === true,
    animation: { duration: reducesMotion ? 0 : 160 },
    draggable: { showGhost: true },
    drawable: {
      enabled: props.isSmall !== true,
      eraseOnMovablePieceClick: false,
      onChange: (shapes) => latest.current.onDraw?.(shapes.map((shape) => ({ ...shape }))),
    },
    movable: {
      ...createConfig(props).movable,
      free: false,
      showDests: true,
      rookCastle: true,
      events: { after: (from, to, { premove }) => latest.current.onMove?.(from, to, premove) },
    },
  }));

  const { fen, orientation, movable, dests, lastMove, canPremove } = props;
  const shown = [fen, orientation, movable, dests, lastMove.join(), canPremove];
  useEffect(() => {
    board.current?.set(createConfig(latest.current));
    if (board.current !== null) latest.current.onReady?.(board.current);
  }, shown);

  useEffect(() => {
    // chessground wipes them off with each position that it is given, also with the same from the other side.
    board.current?.setShapes([...(props.drawn ?? [])]);
  }, [props.drawn, ...shown]);

  const pieces = fen.split(' ')[0].replace(/[^a-z]/gi, '').length;
  const piecesBefore = useRef(pieces);
  useEffect(() => {
    if (lastMove.length > 0 && props.isSmall !== true) playMoveSound(pieces < piecesBefore.current);
    piecesBefore.current = pieces;
  }, [lastMove.join()]);

  useEffect(() => {
    board.current?.setAutoShapes([...(props.shapes ?? [])]);
  }, [props.shapes]);

  useEffect(() => {
    board.current?.set({ highlight: { custom: (props.squareClasses ?? new Map()) as SquareClasses } });
  }, [props.squareClasses]);

  const content = (
    <>
      <div ref={element} class="board" aria-hidden="true" />
      <p class="visually-hidden">{describeBoard(fen)}</p>
    </>
  );
  if (props.isSmall) return <div class="board-wrap board-small">{content}</div>;
  return (
    <SquareCursor board={board} orientation={orientation ?? 'white'}>
      {content}
    </SquareCursor>
  );
}

interface CursorProps {
  readonly board: { readonly current: Api | null };
  readonly orientation: Side;
  readonly children: ComponentChildren;
}

const FILES = 'abcdefgh';
const STEPS: Readonly<Record<string, readonly [right: number, up: number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, 1],
  ArrowDown: [0, -1],
};

/** The squares are one tab stop: arrows move a cursor over them, Enter picks a piece up and puts it down. */
export function SquareCursor({ board, orientation, children }: CursorProps) {
  /** As it is seen: from the left and from below, 0 to 7. */
  const [[right, up], setCursor] = useState<readonly [number, number]>([4, 1]);
  const [isShown, setShown] = useState(false);
  const speak = (at: readonly [number, number], before = ''): void => {
    const key = nameSquare(at, orientation);
    const piece = board.current?.state.pieces.get(key);
    spoken.value = `${before}${key}, ${piece === undefined ? 'empty' : `${piece.color} ${piece.role}`}`;
  };
  const press = (event: KeyboardEvent): void => {
    const step = STEPS[event.key];
    const isPick = event.key === 'Enter' || event.key === ' ';
    const isEscape = event.key === 'Escape' && board.current?.state.selected !== undefined;
    if (event.target !== event.currentTarget || !ownsArrows() || (step === undefined && !isPick && !isEscape)) return;
    event.preventDefault();
    if (step !== undefined) {
      const limit = (at: number): number => Math.min(7, Math.max(0, at));
      const next = [limit(right + step[0]), limit(up + step[1])] as const;
      setCursor(next);
      speak(next);
      return;
    }
    const key = nameSquare([right, up], orientation);
    board.current?.selectSquare(isEscape || board.current.state.selected === key ? null : key, true);
    if (board.current?.state.selected === key) speak([right, up], 'Selected ');
  };
  return (
    <div
      class="board-wrap"
      role="application"
      aria-label="Board: arrows choose a square, Enter picks a piece up and puts it down"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the squares are reached by keys here alone
      tabIndex={0}
      data-keys
      onKeyDown={press}
      onFocus={() => {
        setShown(ownsArrows());
        speak([right, up]);
      }}
      onBlur={() => setShown(false)}
    >
      {children}
      {isShown && <div class="board-cursor" style={{ left: `${12.5 * right}%`, bottom: `${12.5 * up}%` }} />}
    </div>
  );
}

function nameSquare([right, up]: readonly [number, number], orientation: Side): Key {
  const isWhite = orientation === 'white';
  return `${FILES[isWhite ? right : 7 - right]}${isWhite ? up + 1 : 8 - up}` as Key;
}

function createConfig({ fen, orientation = 'white', dests, movable = 'none', lastMove, canPremove }: BoardProps) {
  const position = parseFen(fen);
  return {
    fen: fen.split(' ')[0],
    orientation,
    turnColor: isBlacksTurn(fen) ? ('black' as const) : ('white' as const),
    lastMove: lastMove as Key[],
    check: position.ok && position.value.inCheck(),
    movable: {
      ...(movable === 'none' ? {} : { color: movable }),
      dests: (movable === 'none' ? new Map() : (dests ?? new Map())) as Map<Key, Key[]>,
    },
    premovable: { enabled: canPremove === true },
  };
}
