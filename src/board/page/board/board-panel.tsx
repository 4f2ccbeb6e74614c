/**
 * The one layout of all modes with a board: names and clocks above and below it, evaluation bar, and beside or below it the panel's
 * own part and the moves with the buttons that step through them (styles/layout.css). Here are also promotions and the keys.
 */
import type { Api } from '@lichess-org/chessground/api';
import type { DrawShape } from '@lichess-org/chessground/draw';
import { signal } from '@preact/signals';
import { type ComponentChildren, h } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { failure } from '../../../base/util/index.js';
import type { Move, Position } from '../../../chess/rules/index.js';
import { getPromotionLetter, parseTypedMove } from '../../game/board-moves.js';
import { countMaterial, PIECE_NAMES } from '../../game/page-text.js';
import type { Line } from '../../protocol/replies.js';
import {
  assign,
  Button,
  bindText,
  Dialog,
  IconButton,
  type IconName,
  Menu,
  MenuItem,
  ProblemLine,
  submit,
} from '../shell/controls.js';
import { bindKeys, type KeyBindings } from '../shell/keyboard.js';
import { RoomLinks } from '../shell/rooms.js';
import { storedSignal } from '../shell/stored.js';
import { copyText } from '../shell/user-files.js';
import type { Study } from '../study/study.js';
import { ChessBoard, type Side } from './chess-board.js';

export interface BoardEvaluation {
  readonly text: string;
  /** Per mille for White. */
  readonly wdl: Line['wdl'];
}

/** What stands beside a player's name. */
export interface PlayerNote {
  readonly name: string;
  /** Rating, or what the player is doing. */
  readonly remark?: string;
  /** Remaining time as text; '' = none. */
  readonly clock?: string;
  readonly isRunning?: boolean;
  readonly isLow?: boolean;
  /** Points of a finished game. */
  readonly points?: string;
}

interface BoardPanelProps {
  readonly name: string;
  readonly study: Study;
  readonly players: Readonly<Record<Side, PlayerNote>>;
  /** Those of this panel alone. */
  readonly keys: KeyBindings;
  /** Undefined: the panel has no bar; null: nobody knows yet. */
  readonly evaluation?: BoardEvaluation | null;
  readonly movable?: Side | 'none';
  readonly dests?: ReadonlyMap<string, readonly string[]>;
  readonly shapes?: readonly DrawShape[];
  readonly squareClasses?: ReadonlyMap<string, string>;
  readonly canPremove?: boolean;
  readonly typing?: Typing | undefined;
  /** Whose pawn is promoted. */
  readonly promoting?: Side;
  /** On a phone two buttons stand between those that step through the game and the menu. */
  readonly phoneTools?: ComponentChildren;
  /** In place of the board. */
  readonly instead?: ComponentChildren;
  /** The second part of the side, above the buttons that step: moves of the game, or games. */
  readonly game?: ComponentChildren;
  readonly children: ComponentChildren;
  onDrop?(from: string, to: string, isPremove: boolean): void;
  onPlay?(move: Move): void;
  onReady?(api: Api): void;
  /** The user has stepped through the game. */
  onStep?(): void;
  /** Arrows and circles that the user has drawn. */
  onDraw?(shapes: readonly DrawShape[]): void;
  readonly drawn?: readonly DrawShape[];
  /** The game stands still: a position is set up. */
  readonly isFixed?: boolean;
}

export function BoardPanel(props: BoardPanelProps) {
  const { name, study, players, instead, isFixed = false } = props;
  usePanelKeys(props, isFixed);
  void study.version.value;
  const node = study.node.value;
  const bottom = study.orientation.value;
  const top = bottom === 'white' ? 'black' : 'white';
  const promotion = study.promotion.value;
  return (
    <main class={`panel panel-${name.toLowerCase()}`} style={{ '--size': boardSize.value }}>
      <PlayerStrip side={top} place="top" player={players[top]} fen={node.fen} />
      <section
        class="board-area"
        aria-label="Board"
        onWheel={(event) => isFixed || turnWheel(event, study, props.onStep)}
      >
        {instead ?? (
          <>
            <ChessBoard
              fen={node.fen}
              orientation={bottom}
              dests={props.dests}
              movable={props.movable}
              lastMove={study.lastMove.value}
              shapes={props.shapes}
              squareClasses={props.squareClasses}
              canPremove={props.canPremove}
              drawn={props.drawn}
              onDraw={props.onDraw}
              onMove={props.onDrop}
              onReady={props.onReady}
            />
            {props.evaluation !== undefined && <EvalBar evaluation={props.evaluation} orientation={bottom} />}
            <BoardGrip />
          </>
        )}
      </section>
      <PlayerStrip side={bottom} place="bottom" player={players[bottom]} fen={node.fen} />
      <section class={props.game ? 'side' : 'side side-single'} aria-label={name}>
        <div class={`side-parts side-${phoneView.value}`}>
          <div class="side-main">{props.children}</div>
          <div class="side-game">
            {props.game}
            {isTyping.value && props.typing && <TypedField position={study.position.value} typing={props.typing} />}
            <StepButtons
              study={study}
              onStep={props.onStep}
              isFixed={isFixed}
              menu={props.typing && <MenuItem label="Type a move" title="/" onClick={openTyping} />}
            >
              {props.phoneTools}
            </StepButtons>
          </div>
        </div>
      </section>
      {promotion !== null && (
        <PromotionDialog
          moves={promotion}
          color={props.promoting ?? study.turn.value}
          onChoose={(move) => props.onPlay?.(move)}
          onCancel={() => study.cancelPromotion()}
        />
      )}
    </main>
  );
}

/** Share of the largest board that fits. */
const boardSize = storedSignal('board.size', 1);
const SMALLEST_BOARD = 0.5;

/** The board's lower right corner: drags its size; a double click gives it all the room again. */
function BoardGrip() {
  return (
    <div
      class="board-grip"
      role="none"
      title="Drag to change the size of the board"
      onDblClick={() => {
        boardSize.value = 1;
      }}
      onPointerDown={(event) => {
        event.preventDefault();
        event.currentTarget.setPointerCapture(event.pointerId);
      }}
      onPointerMove={(event) => {
        const grip = event.currentTarget;
        if (!grip.hasPointerCapture(event.pointerId)) return;
        const area = grip.parentElement?.getBoundingClientRect();
        if (area === undefined) return;
        const wanted = Math.max(event.clientY - area.top, event.clientX - area.right + area.height);
        const share = (boardSize.value * wanted) / area.height;
        boardSize.value = Math.min(1, Math.max(SMALLEST_BOARD, share));
      }}
    />
  );
}

/** What the side of a phone has room for. */
const phoneView = signal<'moves' | 'lines' | 'graph'>('moves');

/** @param view fills the side of a phone in place of the moves, and gives way to them again */
export function PhoneView({ view, label }: { readonly view: 'lines' | 'graph'; readonly label: string }) {
  const isShown = phoneView.value === view;
  // A panel without this button has nothing in place of the moves.
  useEffect(() => assign(phoneView, 'moves'), []);
  return (
    <Button
      label={label}
      aria-pressed={isShown}
      onClick={() => {
        phoneView.value = isShown ? 'moves' : view;
      }}
    />
  );
}

interface StripProps {
  readonly side: Side;
  readonly place: 'top' | 'bottom';
  readonly player: PlayerNote;
  readonly fen: string;
}

/** A player: colour, name, captured material, clock, points. */
function PlayerStrip({ side, place, player, fen }: StripProps) {
  const { name, remark = '', clock = '', isRunning = false, isLow = false, points = '' } = player;
  const { ahead, lead } = countMaterial(fen, side);
  return (
    <div class={`player-row row player-${place} ${isRunning ? 'player-running' : ''}`}>
      {name !== '' && <span class={`player-color player-${side}`} aria-hidden="true" />}
      {points !== '' && <strong class="player-points">{points}</strong>}
      <span class="player-name strong cut" title={name}>
        {name}
      </span>
      {remark !== '' && <span class="faint player-remark">{remark}</span>}
      {name !== '' && ahead !== '' && (
        <span class="captured faint" title={`Material: ${ahead} more than the opponent`}>
          <span aria-hidden="true">{ahead}</span>
          {lead > 0 && <span class="captured-lead small">+{lead}</span>}
        </span>
      )}
      <span class="fill" />
      {clock !== '' && <ClockFace name={name} text={clock} isLow={isLow} />}
    </div>
  );
}

export function ClockFace({
  name,
  text,
  isLow,
}: {
  readonly name: string;
  readonly text: string;
  readonly isLow: boolean;
}) {
  return (
    <span class={isLow ? 'clock clock-low' : 'clock'} role="timer" aria-label={`Clock of ${name}`}>
      {text}
    </span>
  );
}

/** White's wins, draws and Black's wins. White's end is on White's side of the board. */
function EvalBar({
  evaluation,
  orientation,
}: {
  readonly evaluation: BoardEvaluation | null;
  readonly orientation: Side;
}) {
  const { win, draw, loss } = evaluation?.wdl ?? { win: 0, draw: 1000, loss: 0 };
  const label =
    evaluation === null
      ? 'No evaluation'
      : `Evaluation ${evaluation.text}: White wins ${win / 10} percent, draws ${draw / 10}, Black wins ${loss / 10}`;
  return (
    <div
      class={`eval-bar ${orientation === 'black' ? 'eval-bar-flipped' : ''} ${evaluation === null ? 'eval-bar-empty' : ''}`}
      role="img"
      aria-label={label}
      title={label}
    >
      <div class="eval-part eval-black" style={{ flexGrow: loss }} />
      <div class="eval-part eval-draw" style={{ flexGrow: draw }} />
      <div class="eval-part eval-white" style={{ flexGrow: win }} />
    </div>
  );
}

interface Step {
  readonly label: string;
  readonly sign: string;
  readonly icon: IconName;
  /** Where there is no such step. */
  readonly end: 'first' | 'last';
  readonly go: 'goToStart' | 'goBack' | 'goForward' | 'goToEnd';
}

const STEPS: readonly Step[] = [
  { label: 'Start', sign: '↑', icon: 'start', end: 'first', go: 'goToStart' },
  { label: 'Back', sign: '←', icon: 'back', end: 'first', go: 'goBack' },
  { label: 'Forward', sign: '→', icon: 'forward', end: 'last', go: 'goForward' },
  { label: 'End', sign: '↓', icon: 'end', end: 'last', go: 'goToEnd' },
];

export function StepButtons({
  study,
  onStep = () => undefined,
  isFixed = false,
  menu,
  children,
}: {
  readonly study: Study;
  readonly isFixed?: boolean;
  readonly menu?: ComponentChildren;
  readonly children?: ComponentChildren;
  onStep?(): void;
}) {
  void study.version.value;
  const node = study.node.value;
  const ends = { first: node.parent === null, last: node.children.length === 0 };
  return (
    <div class="steps line-above" role="toolbar" aria-label="Moves of the game">
      {STEPS.map(({ label, sign, icon, end, go }) => (
        <IconButton
          key={label}
          label={label}
          class={`step-${go}`}
          title={`${label} (${sign})`}
          icon={icon}
          disabled={isFixed || ends[end]}
          onClick={() => {
            onStep();
            study[go]();
          }}
        />
      ))}
      {children && <span class="phone-tools">{children}</span>}
      <Menu label="More" icon="menu">
        <MenuItem label="Flip the board" title="f" onClick={() => study.flip()} />
        {menu}
        <RoomLinks role="menuitem" />
      </Menu>
    </div>
  );
}

/**
 * Keys stay as long as the panel. A closure of the panel itself would hold the elements that the panel has shown first, and through
 * them all later ones; this one holds `latest` alone.
 */
function usePanelKeys(props: BoardPanelProps, isFixed: boolean): void {
  const latest = useRef(props);
  latest.current = props;
  // With the picture, not after it: a key that comes at once belongs to what is shown.
  useLayoutEffect(() => {
    if (isFixed) return undefined;
    const { study, keys } = latest.current;
    const unbind = bindKeys({ ...createStepKeys(study, () => latest.current.onStep?.()), type: openTyping, ...keys });
    return () => {
      unbind();
      isTyping.value = false;
    };
  }, [isFixed]);
}

export function createStepKeys(study: Study, onStep: () => void = () => undefined): KeyBindings {
  const step = (go: () => void) => () => {
    onStep();
    go();
  };
  return {
    back: step(() => study.goBack()),
    forward: step(() => study.goForward()),
    up: step(() => study.chooseOrGo(-1)),
    down: step(() => study.chooseOrGo(1)),
    leaveVariation: step(() => study.leave()),
    start: step(() => study.goToStart()),
    end: step(() => study.goToEnd()),
    flip: () => study.flip(),
    copy: () => void copyText(study.node.value.fen),
  };
}

/** Pixels of a step, for touch pads, which turn in many small ones; a wheel turns further at once. */
const STEP_PIXELS = 40;
let turned = 0;

/** A turn of the wheel over the board is a step; with Ctrl the browser zooms. */
function turnWheel(event: WheelEvent, study: Study, onStep: () => void = () => undefined): void {
  if (event.ctrlKey || event.deltaY === 0) return;
  event.preventDefault();
  const pixels = event.deltaMode === WheelEvent.DOM_DELTA_PIXEL ? event.deltaY : STEP_PIXELS * Math.sign(event.deltaY);
  turned = Math.sign(turned) === -Math.sign(pixels) ? pixels : turned + pixels;
  if (Math.abs(turned) < STEP_PIXELS) return;
  onStep();
  if (turned > 0) study.goForward();
  else study.goBack();
  turned = 0;
}

interface PromotionProps {
  readonly moves: readonly Move[];
  readonly color: Side;
  onChoose(move: Move): void;
  onCancel(): void;
}

/** Which piece a pawn becomes. Escape takes the move back. */
function PromotionDialog({ moves, color, onChoose, onCancel }: PromotionProps) {
  return (
    <Dialog title="Promote to" onClose={onCancel}>
      <div class="promotion">
        {['q', 'r', 'b', 'n'].map((letter) => {
          const move = moves.find((candidate) => getPromotionLetter(candidate) === letter);
          if (move === undefined) return null;
          return (
            <button key={letter} type="button" class="promotion-choice cg-wrap" onClick={() => onChoose(move)}>
              {h('piece' as 'i', { class: `${PIECE_NAMES[letter]} ${color}` })}
              <span class="visually-hidden">{PIECE_NAMES[letter]}</span>
            </button>
          );
        })}
      </div>
    </Dialog>
  );
}

const typed = signal('');
/** Why what was typed is no move. */
const refusal = signal('');
const isTyping = signal(false);
const openTyping = assign(isTyping, true);

/** What may be typed where a move is made; the field stays, with the focus, while nobody may move. */
export interface Typing {
  readonly mayPass?: boolean;
  readonly isOff?: boolean;
  /** Takes what is no move: a FEN or a PGN. @param onOpened called unless the text is neither */
  onText?(text: string, onOpened: () => void): void;
  onMove(move: Move): void;
}

/** One field for those who do not use the board: moves, a FEN or a PGN. */
function TypedField({ position, typing }: { readonly position: Position; readonly typing: Typing }) {
  const { mayPass = false, isOff = false, onText, onMove } = typing;
  const field = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => {
    field.current?.focus();
    refusal.value = '';
  }, []);
  const take = (): void => {
    const text = typed.value.trim();
    const move = isOff ? failure('It is not your move in this position') : parseTypedMove(position, text, mayPass);
    refusal.value = move.ok || (onText !== undefined && /[\s/[]/.test(text)) ? '' : move.error;
    if (refusal.value !== '') return;
    if (!move.ok) {
      onText?.(text, () => {
        typed.value = '';
        isTyping.value = false;
      });
      return;
    }
    typed.value = '';
    onMove(move.value);
  };
  return (
    <form class="typed line-above" onSubmit={submit(take)}>
      <textarea
        ref={field}
        rows={1}
        aria-label="Type a move"
        placeholder={onText === undefined ? 'Move: e4, Nf3' : 'Move: e4, Nf3; a FEN or a PGN'}
        title={mayPass ? 'A move, -- to pass, a FEN or a PGN' : 'A move'}
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        {...bindText(typed)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') isTyping.value = false;
          if (event.key !== 'Enter' || event.shiftKey) return;
          event.preventDefault();
          take();
        }}
      />
      <IconButton label="Hide the field" icon="close" onClick={assign(isTyping, false)} />
      <ProblemLine text={refusal.value} />
    </form>
  );
}
