/**
 * The engine's analysis of the position on the board: follows the study from position to position, keeps what it said, and
 * remembers how the value moved with time. Also the moves under the pointer, in a line, the table or the tree.
 */
import { batch, computed, effect, signal, untracked } from '@preact/signals';
import { computeOutcome, formatFen, NO_MOVE, passTurn } from '../../../chess/rules/index.js';
import { type ArrowMode, requireMove } from '../../game/board-moves.js';
import type { MoveNode } from '../../game/move-tree.js';
import { formatScore, getWhitePoints, getWhiteWdl } from '../../game/page-text.js';
import type { SearchState, TablebaseVerdict } from '../../protocol/replies.js';
import { port, portState, reportError } from '../port/engine-port.js';
import { isBoolean, isNumber, isOneOf, storedSignal } from '../shell/stored.js';
import { study } from '../study/study.js';

/** A position that may be analysed: that of the node, or the opponent's turn in it. */
export interface Place {
  readonly node: MoveNode;
  readonly threat: boolean;
}

interface PlaceMoves extends Place {
  readonly moves: readonly string[];
}

interface ValuePoint {
  readonly timeMs: number;
  readonly nodes: number;
  /** White's expected points, 0 to 1. */
  readonly points: number;
}

export const isOn = storedSignal('engine', false, isBoolean);
export const multiPv = storedSignal('multiPv', 3, isNumber);
export const arrowMode = storedSignal<ArrowMode>('arrowMode', 'visits', isOneOf('visits', 'policy'));
/** When an analysis ends by itself; 0 = never. */
export const nodeLimit = storedSignal('limit.nodes', 0, isNumber);
export const secondLimit = storedSignal('limit.seconds', 0, isNumber);
/** What the opponent would do if it were their turn. */
export const isThreat = signal(false);
/** UCI moves that the search is restricted to, in this position only; empty = all. */
const restriction = signal<PlaceMoves | null>(null);

/** What the running search last said; null before it says anything. */
const searchState = signal<SearchState | null>(null);
/** What `searchState` is about. */
const searched = signal<Place | null>(null);
/** Of the running search, oldest first. */
export const valueHistory = signal<readonly ValuePoint[]>([]);
/** Why the analysis stopped although it is switched on. */
export const endReason = signal('');
export const verdict = signal<TablebaseVerdict | null>(null);

/** The position that is analysed: the one on the board, or the opponent's turn in it. Null where that cannot be. */
export const analysedPosition = computed(() => {
  const position = study.position.value;
  if (!isThreat.value) return position;
  const flipped = passTurn(position);
  return flipped.ok && computeOutcome(flipped.value) === 'ongoing' ? flipped.value : null;
});
export const isBlackToMove = computed(() => (study.turn.value === 'black') !== isThreat.value);
export const outcome = computed(() => computeOutcome(study.position.value));
export const searchMoves = computed(() => listMoves(restriction.value));

/** The state of the position on the board; null when it is about another one. */
export const currentState = computed(() => (isHere(searched.value) ? searchState.value : null));

export function getPlace(): Place {
  return { node: study.node.value, threat: isThreat.value };
}

/** Moves of one side are none of the other's. */
export function isHere<P extends Place>(place: P | null): place is P {
  return place !== null && place.node === study.node.value && place.threat === isThreat.value;
}

function listMoves(known: PlaceMoves | null): readonly string[] {
  return isHere(known) ? known.moves : [];
}

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
const RETRY_MS = 1000;

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
  const isFull = nodeLimit.value > 0 && state.nodes >= nodeLimit.value;
  const isLate = secondLimit.value > 0 && state.timeMs >= 1000 * secondLimit.value;
  if (!isFull && !isLate) return;
  stop();
  endReason.value = isFull ? 'Finished: the limit of nodes' : 'Finished: the limit of time';
}

/** The panel is shown: from now on the engine follows the board. @returns a function that ends it */
export function startFollowing(): () => void {
  isActive = true;
  const endSearches = effect(() => {
    const node = study.node.value;
    const isOpen = portState.value === 'open';
    const wanted = isOn.value && isOpen && outcome.value === 'ongoing' && analysedPosition.value !== null;
    // A limit that is raised lets the search go on.
    const question = {
      node,
      multiPv: multiPv.value,
      searchMoves: searchMoves.value,
      threat: isThreat.value,
      limits: [nodeLimit.value, secondLimit.value],
    };
    untracked(() => follow(wanted ? question : null, isOpen));
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

interface Question extends Place {
  readonly multiPv: number;
  readonly searchMoves: readonly string[];
}

let wantedSearch: Question | null = null;
let isAsking = false;

function follow(question: Question | null, isOpen: boolean): void {
  wantedSearch = question;
  if (question === null) {
    stop();
    // Figures of an engine that is gone would never move again.
    if (!isOpen) searchState.value = null;
    return;
  }
  batch(() => {
    searchState.value = null;
    searched.value = question;
    valueHistory.value = [];
    endReason.value = '';
  });
  void askForSearch();
}

/** One question at a time: of a burst of keys only the last position is asked about, however fast the keys come. */
async function askForSearch(): Promise<void> {
  if (isAsking) return;
  isAsking = true;
  while (wantedSearch !== null) {
    const { node, threat, ...settings } = wantedSearch;
    const question = wantedSearch;
    wantedSearch = null;
    const flipped = analysedPosition.value;
    const position = threat && flipped !== null ? { fen: formatFen(flipped), moves: [] } : study.describePosition(node);
    const { multiPv: lines, searchMoves: moves } = settings;
    const restricted = moves.length === 0 ? {} : { searchMoves: [...moves] };
    const sent = port.send('analyse', { position, multiPv: lines, ...restricted });
    searchId = sent.id;
    const problem = await sent.answer.then(
      () => null,
      (error: unknown) => error,
    );
    if (problem !== null && wantedSearch === null && searchId === sent.id) retry(question, problem);
  }
  isAsking = false;
}

/** A question that was refused, while nobody wants another one, is asked once more. */
function retry(question: Question, problem: unknown): void {
  searchId = -1;
  if (portState.value !== 'open') return;
  endReason.value = problem instanceof Error ? problem.message : String(problem);
  setTimeout(() => {
    if (!isActive || !isOn.value || searchId !== -1 || searched.value !== question) return;
    wantedSearch = question;
    void askForSearch();
  }, RETRY_MS);
}

function stop(): void {
  if (searchId === -1) return;
  searchId = -1;
  if (portState.value === 'open') port.send('stop', {}).answer.catch(reportError);
}

let isProbing = false;

/** Of a burst of positions too, only the last is looked up. */
function probe(node: MoveNode): void {
  verdict.value = null;
  const men = node.fen.split(' ')[0].replace(/[^a-z]/gi, '').length;
  if (men > MOST_MEN || isProbing) return;
  isProbing = true;
  port
    .send('probe', { position: study.describePosition(node) })
    .answer.then((answer) => {
      if (isActive && study.node.value === node) verdict.value = answer;
    }, reportError)
    .finally(() => {
      isProbing = false;
      if (isActive && study.node.value !== node) probe(study.node.value);
    });
}

export function toggleEngine(): void {
  isOn.value = !isOn.value;
}

/** Searches this move too, or no longer; without any the search is free again. */
export function toggleSearchMove(uci: string): void {
  const moves = searchMoves.value.includes(uci)
    ? searchMoves.value.filter((move) => move !== uci)
    : [...searchMoves.value, uci];
  restriction.value = moves.length === 0 ? null : { ...getPlace(), moves };
}

/** Plays the engine's best move on the board; without an analysis nothing happens. */
export function playBestMove(): void {
  const uci = currentState.value?.lines[0]?.pv[0];
  if (uci !== undefined) playMoves([uci]);
}

const hovered = signal<PlaceMoves | null>(null);

/** UCI moves from the position on the board; the board may have moved on since the pointer came. */
export const hoveredMoves = computed(() => listMoves(hovered.value));

/** @param moves UCI, from the analysed position; empty when the pointer leaves */
export function hover(moves: readonly string[]): void {
  hovered.value = moves.length === 0 ? null : { ...getPlace(), moves };
}

/** Where the line leads; null for none and for a single move, which is shown as an arrow. */
export const previewFen = computed(() => {
  const start = analysedPosition.value;
  if (hoveredMoves.value.length < 2 || start === null) return null;
  const position = start.clone();
  for (const uci of hoveredMoves.value) position.makeMove(requireMove(position, uci));
  return formatFen(position);
});

/** @param moves UCI, from the analysed position: a threat begins with a null move */
export function playMoves(moves: readonly string[]): void {
  hover([]);
  batch(() => {
    if (isThreat.value) study.play(NO_MOVE);
    isThreat.value = false;
    for (const uci of moves) study.play(requireMove(study.position.value, uci));
  });
}
