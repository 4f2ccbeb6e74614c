/**
 * The engine's analysis of the position on the board: follows the study from position to position, keeps what it said, and
 * remembers how the value moved with time.
 */
import { batch, computed, effect, signal, untracked } from '@preact/signals';
import { computeOutcome } from '../../../chess/index.js';
import type { ArrowMode } from '../../game/arrows.js';
import { requireMove } from '../../game/board-moves.js';
import type { MoveNode } from '../../game/move-tree.js';
import { formatScore, getWhitePoints, getWhiteWdl } from '../../game/value-text.js';
import type { SearchState, TablebaseVerdict } from '../../protocol/replies.js';
import { port, portState, reportError } from '../port/engine-state.js';
import { isBoolean, isNumber, isOneOf, storedSignal } from '../shell/stored.js';
import { study } from '../study/study.js';

export interface ValuePoint {
  readonly timeMs: number;
  readonly nodes: number;
  /** White's expected points, 0 to 1. */
  readonly points: number;
}

export const isOn = storedSignal('engine', false, isBoolean);
export const multiPv = storedSignal('multiPv', 3, isNumber);
export const arrowMode = storedSignal<ArrowMode>('arrowMode', 'visits', isOneOf('visits', 'policy'));

/** What the running search last said; null before it says anything. */
export const searchState = signal<SearchState | null>(null);
/** Node of the study that `searchState` is about. */
export const searchedNode = signal<MoveNode | null>(null);
/** Of the running search, oldest first. */
export const valueHistory = signal<readonly ValuePoint[]>([]);
/** Why the analysis stopped although it is switched on. */
export const endReason = signal('');
export const verdict = signal<TablebaseVerdict | null>(null);

export const isBlackToMove = computed(() => study.turn.value === 'black');
export const outcome = computed(() => computeOutcome(study.position.value));

/** The state of the position on the board; null when it is about another one. */
export const currentState = computed(() => (searchedNode.value === study.node.value ? searchState.value : null));

/** The best line's score, for the bar. */
export const evaluation = computed(() => {
  const line = currentState.value?.lines[0];
  if (line === undefined) return null;
  return { text: formatScore(line.score, isBlackToMove.value), wdl: getWhiteWdl(line, isBlackToMove.value) };
});

/** Longest history; when it is full every second point is dropped. */
const MOST_POINTS = 600;
/** Most men that any tablebase has. */
const MOST_MEN = 7;

let searchId = -1;
let isActive = false;

port.listen((event) => {
  if (event.type === 'search' && event.id === searchId) takeState(event.state);
  if (event.type === 'ended' && event.id === searchId) {
    searchId = -1;
    batch(() => {
      endReason.value = event.reason;
      isOn.value = false;
    });
  }
});

function takeState(state: SearchState): void {
  const line = state.lines[0];
  batch(() => {
    searchState.value = state;
    if (line === undefined) return;
    const point = { timeMs: state.timeMs, nodes: state.nodes, points: getWhitePoints(line, isBlackToMove.value) };
    const history = valueHistory.value;
    const kept = history.length < MOST_POINTS ? history : history.filter((_, index) => index % 2 === 0);
    valueHistory.value = [...kept, point];
  });
}

/** The panel is shown: from now on the engine follows the board. @returns a function that ends it */
export function startFollowing(): () => void {
  isActive = true;
  const endSearches = effect(() => {
    const node = study.node.value;
    const wanted = isOn.value && portState.value === 'open' && outcome.value === 'ongoing';
    const lines = multiPv.value;
    untracked(() => follow(node, wanted, lines));
  });
  const endProbes = effect(() => {
    const { value: node } = study.node;
    if (portState.value === 'open') untracked(() => probe(node));
  });
  return () => {
    isActive = false;
    endSearches();
    endProbes();
    stop();
  };
}

function follow(node: MoveNode, wanted: boolean, lines: number): void {
  if (!wanted) {
    stop();
    return;
  }
  if (searchedNode.value !== node) {
    batch(() => {
      searchState.value = null;
      searchedNode.value = node;
      valueHistory.value = [];
    });
  }
  const sent = port.send('analyse', { position: study.describePosition(node), multiPv: lines });
  searchId = sent.id;
  endReason.value = '';
  sent.answer.catch((error: unknown) => {
    if (searchId === sent.id) reportError(error);
  });
}

function stop(): void {
  if (searchId === -1) return;
  searchId = -1;
  if (portState.value === 'open') port.send('stop', {}).answer.catch(reportError);
}

function probe(node: MoveNode): void {
  verdict.value = null;
  const men = node.fen.split(' ')[0].replace(/[^a-z]/gi, '').length;
  if (men > MOST_MEN) return;
  port.send('probe', { position: study.describePosition(node) }).answer.then((answer) => {
    if (isActive && study.node.value === node) verdict.value = answer;
  }, reportError);
}

export function toggleEngine(): void {
  isOn.value = !isOn.value;
}

/** Plays the engine's best move on the board; without an analysis nothing happens. */
export function playBestMove(): void {
  const uci = currentState.value?.lines[0]?.pv[0];
  if (uci !== undefined) study.play(requireMove(study.position.value, uci));
}
