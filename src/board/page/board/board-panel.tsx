/**
 * The one layout of all panels with a board: names and clocks above and below it, evaluation bar, buttons to step through the
 * game, and the panel's own part beside or below (styles/layout.css). Here are also promotions, typed moves and the keys.
 */
import type { Api } from '@lichess-org/chessground/api';
import type { DrawShape } from '@lichess-org/chessground/draw';
import { signal } from '@preact/signals';
import { type ComponentChildren, h } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { failure } from '../../../base/util/index.js';
import type { Move, Position } from '../../../chess/rules/index.js';
import { getPromotionLetter, parseTypedMove } from '../../game/board-moves.js';
import { countMaterial } from '../../game/page-text.js';
import type { Line } from '../../protocol/replies.js';
import { bindText, Dialog, IconButton, type IconName, submit } from '../shell/controls.js';
import { bindKeys, type KeyBinding } from '../shell/keyboard.js';
import { addNotice } from '../shell/notices.js';
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
  /** Those of this panel alone; they come before the ones that step through the game. */
  readonly keys: readonly KeyBinding[];
  /** Undefined: the panel has no bar; null: nobody knows yet. */
  readonly evaluation?: BoardEvaluation | null;
  readonly movable?: Side | 'none';
  readonly dests?: ReadonlyMap<string, readonly string[]>;
  readonly shapes?: readonly DrawShape[];
  readonly squareClasses?: ReadonlyMap<string, string>;
  readonly canPremove?: boolean;
  /** Whose pawn is promoted. */
  readonly promoting?: Side;
  /** Buttons before those that step through the game. */
  readonly tools?: ComponentChildren;
  /** In place of the board. */
  readonly instead?: ComponentChildren;
  /** The second part of the side: moves of the game, or games. */
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
    <main class={`panel panel-${name.toLowerCase()}`}>
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
          </>
        )}
      </section>
      <PlayerStrip side={bottom} place="bottom" player={players[bottom]} fen={node.fen} />
      <StepButtons study={study} onStep={props.onStep} isFixed={isFixed}>
        {props.tools}
      </StepButtons>
      <section class="side" aria-label={name}>
        <div class="side-main">{props.children}</div>
        {props.game && <div class="side-game">{props.game}</div>}
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
    <div class={`player-row player-${place} ${isRunning ? 'player-running' : ''}`}>
      {name !== '' && <span class={`player-color player-${side}`} aria-hidden="true" />}
      {points !== '' && <strong class="player-points">{points}</strong>}
      <span class="player-name" title={name}>
        {name}
      </span>
      {remark !== '' && <span class="faint player-remark">{remark}</span>}
      {name !== '' && ahead !== '' && (
        <span class="captured" title={`Material: ${ahead} more than the opponent`}>
          <span aria-hidden="true">{ahead}</span>
          {lead > 0 && <span class="captured-lead">+{lead}</span>}
        </span>
      )}
      <span class="spacer" />
      {clock !== '' && (
        <span class={isLow ? 'clock clock-low' : 'clock'} role="timer" aria-label={`Clock of ${name}`}>
          {clock}
        </span>
      )}
    </div>
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
      {evaluation !== null && evaluation.text !== '' && (
        <span class={`eval-score ${win >= loss ? 'eval-score-white' : 'eval-score-black'}`}>
          {shorten(evaluation.text)}
        </span>
      )}
    </div>
  );
}

/** The bar has room for "0.9", "12" and "#12"; its colours say whose advantage it is. */
function shorten(score: string): string {
  const pawns = Number(score.replace(/^[+−]/, ''));
  return Number.isNaN(pawns) ? score.replace('−', '') : pawns.toFixed(pawns < 9.95 ? 1 : 0);
}

interface Step {
  readonly label: string;
  readonly sign: string;
  readonly keys: readonly string[];
  readonly icon: IconName;
  /** Where there is no such step. */
  readonly end: 'first' | 'last';
  readonly go: 'goToStart' | 'goBack' | 'goForward' | 'goToEnd';
}

const STEPS: readonly Step[] = [
  { label: 'Start', sign: '↑', keys: ['ArrowUp', 'Home'], icon: 'start', end: 'first', go: 'goToStart' },
  { label: 'Back', sign: '←', keys: ['ArrowLeft', 'k'], icon: 'back', end: 'first', go: 'goBack' },
  { label: 'Forward', sign: '→', keys: ['ArrowRight', 'j'], icon: 'forward', end: 'last', go: 'goForward' },
  { label: 'End', sign: '↓', keys: ['ArrowDown', 'End'], icon: 'end', end: 'last', go: 'goToEnd' },
];

export function StepButtons({
  study,
  onStep = () => undefined,
  isFixed = false,
  children,
}: {
  readonly study: Study;
  readonly isFixed?: boolean;
  readonly children?: ComponentChildren;
  onStep?(): void;
}) {
  void study.version.value;
  const node = study.node.value;
  const ends = { first: node.parent === null, last: node.children.length === 0 };
  return (
    <div class="board-tools" role="toolbar" aria-label="Moves of the game">
      {children}
      <span class="step-buttons">
        {STEPS.map(({ label, sign, icon, end, go }) => (
          <IconButton
            key={label}
            label={label}
            title={`${label} (${sign})`}
            icon={icon}
            disabled={isFixed || ends[end]}
            onClick={() => {
              onStep();
              study[go]();
            }}
          />
        ))}
        <IconButton label="Flip the board" title="Flip the board (f)" icon="flip" onClick={() => study.flip()} />
      </span>
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
    return bindKeys([...createStepKeys(study, () => latest.current.onStep?.()), ...keys]);
  }, [isFixed]);
}

export function createStepKeys(study: Study, onStep: () => void = () => undefined): readonly KeyBinding[] {
  const steps = STEPS.map(({ label, keys, go }) => ({
    keys,
    help: label,
    run: () => {
      onStep();
      study[go]();
    },
  }));
  return [...steps, { keys: ['f'], help: 'Flip the board', run: () => study.flip() }];
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

const ROLES = { q: 'queen', r: 'rook', b: 'bishop', n: 'knight' } as const;

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
        {(Object.keys(ROLES) as (keyof typeof ROLES)[]).map((letter) => {
          const move = moves.find((candidate) => getPromotionLetter(candidate) === letter);
          if (move === undefined) return null;
          return (
            <button key={letter} type="button" class="promotion-choice cg-wrap" onClick={() => onChoose(move)}>
              {h('piece' as 'i', { class: `${ROLES[letter]} ${color}` })}
              <span class="visually-hidden">{ROLES[letter]}</span>
            </button>
          );
        })}
      </div>
    </Dialog>
  );
}

const typed = signal('');

/** A field to type moves into, for those who do not use the board. It stays, with the focus, while nobody may move. */
export function TypedMove({
  position,
  mayPass = false,
  isOff = false,
  onMove,
}: {
  readonly position: Position;
  readonly mayPass?: boolean;
  readonly isOff?: boolean;
  onMove(move: Move): void;
}) {
  return (
    <form
      class="typed-move"
      onSubmit={submit(() => {
        const move = isOff
          ? failure('It is not your move in this position')
          : parseTypedMove(position, typed.value, mayPass);
        if (!move.ok) return addNotice('warning', move.error);
        typed.value = '';
        onMove(move.value);
      })}
    >
      <input
        aria-label="Type a move"
        placeholder="Move: e4, Nf3"
        title={mayPass ? 'A move; -- passes the turn' : 'A move'}
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        {...bindText(typed)}
      />
    </form>
  );
}
