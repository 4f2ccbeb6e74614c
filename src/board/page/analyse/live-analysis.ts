/**
 * The engine's analysis of the position on the board: follows the study from position to position, and keeps what it said of each.
 * Also the moves under the pointer, in a line, a table or the replies.
 */
import { batch, computed, effect, type Signal, signal, untracked } from '@preact/signals';
import { computeOutcome, formatFen, NO_MOVE, passTurn } from '../../../chess/rules/index.js';
import { type ArrowMode, formatMoveNumber, requireMove } from '../../game/board-moves.js';
import type { MoveNode } from '../../game/move-tree.js';
import type { EngineThought } from '../../game/move-tree-text.js';
import { describeWinner, formatScore, getWhiteWdl, isBlacksTurn } from '../../game/page-text.js';
import type { Line, SearchState, TablebaseVerdict } from '../../protocol/replies.js';
import { engine, port, portState, reportError } from '../port/engine-port.js';
import { isOneOf, storedSignal } from '../shell/stored.js';
import { players } from '../study/players.js';
import { study } from '../study/study.js';

/** A position that may be analysed: that of the node, or the opponent's turn in it. */
export interface Place {
  readonly node: MoveNode;
  readonly threat: boolean;
}

interface PlaceMoves extends Place {
  readonly moves: readonly string[];
}

/** There is room for what a small window folds. */
export const isRoomy = matchMedia('(min-height: 900px) and (min-width: 1600px)').matches;
export const isOn = storedSignal('engine', false);
export const multiPv = storedSignal('multiPv', 3);
export const arrowMode = storedSignal<ArrowMode>('arrowMode', 'visits', isOneOf('visits', 'policy'));
/** When an analysis ends by itself; 0 = never. */
export const nodeLimit = storedSignal('limit.nodes', 0);
export const secondLimit = storedSignal('limit.seconds', 0);
/** Where the opponent's turn is analysed. */
const threatened = signal<MoveNode | null>(null);
/** What the opponent would do if it were their turn; the next step ends it. */
export const isThreat = computed(() => threatened.value === study.node.value);
/** UCI moves that the search is restricted to, in this position only; empty = all. */
const restriction = signal<PlaceMoves | null>(null);

/** What the running search last said; null before it says anything. */
const searchState = signal<SearchState | null>(null);
/** What `searchState` is about. */
const searched = signal<Question | null>(null);
/** Why the analysis stopped although it is switched on. */
export const endReason = signal('');
/** Another page has the engine, and says what it analyses; '' = it had it, and the engine is free. Null = the engine is here. */
export const elsewhere = signal<string | null>(null);
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
/** Lines that the engine has room for: as many as are wanted, and as there are moves. */
export const lineCount = computed(() =>
  Math.min(multiPv.value, searchMoves.value.length || (analysedPosition.value?.countLegalMoves() ?? 0)),
);

/** The state of the position on the board; null when it is about another one. */
export const currentState = computed(() => (isHere(searched.value) ? searchState.value : null));

/** There are candidates, or soon will be. */
export const hasCandidates = computed(
  () => outcome.value === 'ongoing' && analysedPosition.value !== null && (isOn.value || currentState.value !== null),
);

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

/** Of the best line, from White's view. */
export const evaluation = computed(() => {
  const state = currentState.value;
  const line = state?.lines[0];
  if (state === null || line === undefined) return null;
  const isBlack = isBlackToMove.value;
  const winner = describeWinner(line, isBlack, isProven(line, state));
  return { text: formatScore(line.score, isBlack), wdl: getWhiteWdl(line, isBlack), winner };
});

function isProven({ score, pv }: Line, { moves }: SearchState): boolean {
  return score.kind === 'mate' || moves.find(({ move }) => move === pv[0])?.bound === 'exact';
}

const thoughts = new WeakMap<MoveNode, Signal<EngineThought | null>>();

/** What the engine found out about the node's position, since the page was loaded. */
export function getThought(node: MoveNode): Signal<EngineThought | null> {
  const known = thoughts.get(node) ?? signal(null);
  thoughts.set(node, known);
  return known;
}

/** Of two thoughts of the same network the one with more visits stays. */
function keepThought(thought: EngineThought): void {
  const known = getThought(study.node.value);
  const { network, nodes } = known.value ?? { network: '', nodes: 0 };
  if (network !== thought.network || nodes <= thought.nodes) known.value = thought;
}

/** Most men that any tablebase has. */
const MOST_MEN = 7;
const RETRY_MS = 1000;
export const SILENCE_MS = 15_000;
/** The engine was asked so long ago, and has neither answered nor refused. */
export const isSilent = signal(false);
let silence: ReturnType<typeof setTimeout> | undefined;

let searchId = -1;
/** The panel of the analysis is shown. */
export const isFollowing = signal(false);
/** The user has done something in this page: what comes before that, the page does by itself. */
let isTouched = false;
/** The question before this one was asked over the same connection. */
let wasOpen = false;

for (const type of ['pointerdown', 'keydown', 'wheel', 'click']) {
  const touch = (): void => {
    isTouched = true;
  };
  addEventListener(type, touch, { capture: true, once: true, passive: true });
}

port.listen((event) => {
  if (event.type === 'search' && event.id === searchId) takeState(event.state);
  if (event.type === 'holder') elsewhere.value = event.about ?? (elsewhere.value === null ? null : '');
  if (event.type === 'ended' && event.id === searchId) {
    searchId = -1;
    batch(() => {
      endReason.value = event.reason;
      isOn.value = false;
    });
  }
});

function takeState(state: SearchState): void {
  const [line] = state.lines;
  batch(() => {
    elsewhere.value = null;
    hearEngine();
    searchState.value = state;
    const isWhole = isHere(searched.value) && !isThreat.value && searchMoves.value.length === 0;
    const network = engine.value?.running ?? '';
    if (line !== undefined && isWhole) keepThought({ line, nodes: state.nodes, network });
  });
  const isFull = nodeLimit.value > 0 && state.nodes >= nodeLimit.value;
  const isLate = secondLimit.value > 0 && state.timeMs >= 1000 * secondLimit.value;
  const isSolved = state.lines.length >= lineCount.value && state.lines.every((own) => isProven(own, state));
  if (!isFull && !isLate && !isSolved) return;
  stop();
  endReason.value = `Finished: ${isFull ? 'the limit of nodes' : isLate ? 'the limit of time' : 'all is proven'}`;
}

/** The panel is shown: from now on the engine follows the board. @returns a function that ends it */
export function startFollowing(): () => void {
  isFollowing.value = true;
  // Who only comes back from another room takes nothing either.
  let known = elsewhere.peek() === null ? null : searched.peek()?.node;
  const endSearches = effect(() => {
    const node = study.node.value;
    const isOpen = portState.value === 'open';
    const wanted = isOn.value && isOpen && outcome.value === 'ongoing' && analysedPosition.value !== null;
    // A limit that is raised lets the search go on.
    void [nodeLimit.value, secondLimit.value];
    const question = {
      node,
      multiPv: multiPv.value,
      searchMoves: searchMoves.value,
      threat: isThreat.value,
      // What the page does by itself when it is loaded, or connected again, takes nothing from another page.
      takes: isTouched && wasOpen && node !== known,
    };
    known = null;
    untracked(() => follow(wanted ? question : null, isOpen));
  });
  const endProbes = effect(() => {
    const { value: node } = study.node;
    if (portState.value === 'open') untracked(() => probe(node));
  });
  return () => {
    isFollowing.value = false;
    endSearches();
    endProbes();
    stop();
  };
}

interface Question extends Place {
  readonly multiPv: number;
  readonly searchMoves: readonly string[];
  /** The engine is taken from another page. */
  readonly takes: boolean;
}

let wantedSearch: Question | null = null;
let isAsking = false;

function hearEngine(): void {
  clearTimeout(silence);
  isSilent.value = false;
}

function follow(question: Question | null, isOpen: boolean): void {
  hearEngine();
  if (threatened.value !== study.node.value) threatened.value = null;
  wantedSearch = question;
  wasOpen = isOpen;
  if (question === null) {
    stop();
    // Figures of an engine that is gone would never move again.
    if (!isOpen) searchState.value = null;
    return;
  }
  batch(() => {
    searchState.value = null;
    searched.value = question;
    endReason.value = '';
    elsewhere.value = null;
  });
  silence = setTimeout(() => {
    isSilent.value = elsewhere.value === null && endReason.value === '';
  }, SILENCE_MS);
  void askForSearch();
}

/** Takes the engine from the page that has it, or switches it on. */
export function takeOver(): void {
  if (!isOn.value) isOn.value = true;
  else if (searched.value !== null) follow({ ...searched.value, takes: true }, true);
}

/** Characters; the engine's side takes no more. */
const LONGEST_ABOUT = 300;

/** "Anna – Ben, after 5. O-O": for the other pages. */
function describeOwn({ parent, gamePly, san, fen }: MoveNode): string {
  const { white, black } = players.peek();
  const place = parent === null ? 'at the start' : `after ${formatMoveNumber(gamePly - 1, !isBlacksTurn(fen))} ${san}`;
  return `${white.name} – ${black.name}, ${place}`.slice(-LONGEST_ABOUT);
}

/** One question at a time: of a burst of keys only the last position is asked about, however fast the keys come. */
async function askForSearch(): Promise<void> {
  if (isAsking) return;
  isAsking = true;
  while (wantedSearch !== null) {
    const question = wantedSearch;
    wantedSearch = null;
    const sent = port.send('analyse', describeQuestion(question));
    searchId = sent.id;
    await sent.answer.catch((problem: Error) => {
      if (wantedSearch === null && searchId === sent.id) retry(question, problem);
    });
  }
  isAsking = false;
}

function describeQuestion({ node, threat, takes, ...question }: Question) {
  const flipped = threat ? analysedPosition.value : null;
  const position = flipped === null ? study.tree.value.describePosition(node) : { fen: formatFen(flipped), moves: [] };
  const searchMoves = question.searchMoves.length === 0 ? undefined : [...question.searchMoves];
  return { position, multiPv: question.multiPv, searchMoves, takes, about: describeOwn(node) };
}

/** A question that was refused, while nobody wants another one, is asked once more. */
function retry(question: Question, problem: Error): void {
  searchId = -1;
  if (portState.value !== 'open') return;
  endReason.value = problem.message;
  setTimeout(() => {
    if (!isFollowing.peek() || !isOn.value || searchId !== -1 || searched.value !== question) return;
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
    .send('probe', { position: study.tree.value.describePosition(node) })
    .answer.then((answer) => {
      if (isFollowing.peek() && study.node.value === node) verdict.value = answer;
    }, reportError)
    .finally(() => {
      isProbing = false;
      if (isFollowing.peek() && study.node.value !== node) probe(study.node.value);
    });
}

export function toggleEngine(): void {
  isOn.value = !isOn.value;
}

export function toggleThreat(): void {
  threatened.value = isThreat.value ? null : study.node.value;
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

/** Where on the screen the element stands whose moves are hovered. */
export const hoveredBox = signal<DOMRect | null>(null);
const hovered = signal<PlaceMoves | null>(null);

/** UCI moves from the position on the board; the board may have moved on since the pointer came. */
export const hoveredMoves = computed(() => listMoves(hovered.value));

/** @param moves UCI, from the analysed position; empty when the pointer leaves. @param element what the pointer is over */
export function hover(moves: readonly string[], element?: EventTarget | null): void {
  hovered.value = moves.length === 0 ? null : { ...getPlace(), moves };
  hoveredBox.value = element instanceof Element ? element.getBoundingClientRect() : null;
}

/** The square of the board under the pointer. */
export const pointedSquare = signal('');

/** The first line whose move ends on the square under the pointer, or else begins there. */
export const pointedLine = computed<readonly string[]>(() => {
  const lines = pointedSquare.value === '' ? [] : (currentState.value?.lines ?? []);
  const find = (from: number) => lines.find(({ pv }) => pv[0]?.slice(from, from + 2) === pointedSquare.value)?.pv;
  return find(2) ?? find(0) ?? [];
});

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
    for (const uci of moves) study.play(requireMove(study.position.value, uci));
  });
}
