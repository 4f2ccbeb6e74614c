/** What lc0's self-play prints for the client that drives it, word for word (selfplay/loop.cc). */
import { formatUciMove, type Move, START_FEN } from '../../chess/rules/index.js';
import { isFirstPlayerWhite } from '../match/index.js';
import { computeCentipawns, type ResultText } from '../play/index.js';
import { computeElo, computeNormalProbability, type GameCounts } from '../statistics/index.js';
import type { SearchedMove, SelfPlayGame } from './self-play-game.js';

const RESULT_WORDS: Readonly<Record<ResultText, string>> = {
  '1-0': 'whitewon',
  '0-1': 'blackwon',
  '1/2-1/2': 'draw',
};

export function formatResignReport(threshold: number): string {
  return `resign_report fp_threshold ${threshold.toFixed(6)}`;
}

/** @param trainingFile '' = none was written */
export function formatGameReady(index: number, game: SelfPlayGame, trainingFile: string): string {
  const { opening, played, end } = game;
  const words = ['gameready'];
  if (trainingFile !== '') words.push('trainingfile', trainingFile);
  words.push('gameid', String(index), 'play_start_ply', String(opening.moves.length));
  words.push('player1', isFirstPlayerWhite(index) ? 'white' : 'black', 'result', RESULT_WORDS[end.result]);
  // lc0 writes castling as king takes rook here.
  const moves = [...opening.moves, ...played.map(({ move }) => move)].map((move) => formatUciMove(move, true));
  if (moves.length > 0) words.push('moves', ...moves);
  if (opening.fen !== START_FEN) words.push('from_fen', opening.fen);
  return words.join(' ');
}

/** A move and the search behind it, marked with player, game and side (chess/uciloop.cc). */
export function formatThought(index: number, { isBlack, info, move }: SearchedMove): string[] {
  const player = isBlack === isFirstPlayerWhite(index) ? 2 : 1;
  const marks = `player ${player} gameid ${index} side ${isBlack ? 'black' : 'white'}`;
  const best = `bestmove ${formatUciMove(move, false)} ${marks}`;
  if (info === null) return [best];
  const [line] = info.lines;
  const words = [`info ${marks} depth`, info.depth, 'seldepth', info.seldepth, 'time', info.timeMs];
  words.push(
    'nodes',
    info.nodes,
    'score',
    line.mate === null ? `cp ${computeCentipawns(line.wl)}` : `mate ${line.mate}`,
  );
  if (info.nps !== null) words.push('nps', info.nps);
  words.push('tbhits', info.tbHits, 'pv', ...line.pv.map((pvMove) => formatUciMove(pvMove as Move, false)));
  return [words.join(' '), best];
}

export interface TournamentCounts {
  /** Of player 1, by the colour it had. */
  readonly asWhite: GameCounts;
  readonly asBlack: GameCounts;
  readonly playouts: number;
  readonly moves: number;
}

export function formatTournamentStatus(
  { asWhite, asBlack, playouts, moves }: TournamentCounts,
  final: boolean,
): string {
  const wins = asWhite.wins + asBlack.wins;
  const losses = asWhite.losses + asBlack.losses;
  const draws = asWhite.draws + asBlack.draws;
  const score = (wins + draws / 2) / (wins + losses + draws);
  let text = `tournamentstatus${final ? ' final' : ''} P1: ${formatCounts({ wins, losses, draws })}`;
  if (score > 0) text += ` Win: ${pad(100 * score)}%`;
  if (score > 0 && score < 1) text += ` Elo: ${pad(computeElo(score))}`;
  if (wins + losses > 0) {
    text += ` LOS: ${pad(100 * computeNormalProbability((wins - losses) / Math.sqrt(wins + losses)))}%`;
  }
  const npm = (playouts / Math.max(moves, 1)).toFixed(6);
  return `${text} P1-W: ${formatCounts(asWhite)} P1-B: ${formatCounts(asBlack)} npm ${npm} nodes ${playouts} moves ${moves}`;
}

function formatCounts({ wins, losses, draws }: GameCounts): string {
  return `+${wins} -${losses} =${draws}`;
}

function pad(value: number): string {
  return value.toFixed(2).padStart(5);
}
