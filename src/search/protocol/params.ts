/**
 * Every tunable of the search, a row each: lc0's names, flags, defaults and ranges (lc0: search/classic/params.cc, stoppers/common.cc).
 * UCI options, command-line flags, `--help`, the option table of the docs and the typed `SearchParams` object are all derived from it.
 * Options of evaluation belong to networks/nn, those of clocks to engine/core.
 */
import {
  bool,
  float,
  freeText,
  HIDDEN,
  int,
  type OptionSpec,
  type OptionValue,
  oneOf,
  option,
  plainText,
  type ValueOf,
} from '../../base/options/index.js';
import { failure, type Result, success } from '../../base/util/result.js';

/** A sentence for the user when the option `Contempt` is no list of `[name=]value`. */
export function checkContempt(text: string): Result<true> {
  const invalid = text.split(',').find((entry) => parseContempt(entry) === null);
  if (invalid === undefined) return success(true);
  return failure(`Option Contempt is a list of numbers and name=number, which "${invalid.trim()}" is not`);
}

/** Parses the option `Contempt`, a list of `[name=]value`; null when an entry is invalid. */
export function parseContempt(text: string): { name: string; value: number }[] | null {
  const entries: { name: string; value: number }[] = [];
  for (const part of text.split(',').filter((entry) => entry.trim() !== '')) {
    const fields = part.split('=').map((field) => field.trim());
    const valueText = fields.at(-1) ?? '';
    const value = Number(valueText);
    if (fields.length > 2 || valueText === '' || !Number.isFinite(value)) return null;
    entries.push({ name: fields.length === 2 ? (fields[0] ?? '').toLowerCase() : '', value });
  }
  return entries;
}

/** Positions in one network call. */
export const LARGEST_MINIBATCH = 1024;
/** Of the tensors that a large network makes of one. */
const POSITION_BYTES = 4e6;

// biome-ignore format: a row an option
const table = {
  // What a search tree is: nodes of its own or shared ones, how games end in it, how large it may grow.
  search: option('SearchAlgorithm', 'search', { ...oneOf('tree', ['tree', 'graph', 'policyhead', 'valuehead']), synonyms: { classic: 'tree', 'dag-preview': 'graph' } }, 'tree = every line has nodes of its own, as in the classic search of lc0; graph = transpositions share a node. policyhead plays the move with the largest prior, valuehead the one with the best value after it, both without further search. lc0’s classic and dag-preview mean tree and graph.'),
  twoFoldDraws: option('TwoFoldDraws', 'two-fold-draws', bool(true), 'Count a first repetition inside the search tree as a draw.'),
  stickyEndgames: option('StickyEndgames', 'sticky-endgames', bool(true), 'Spread proven wins, losses and draws up the tree.'),
  drawScore: option('DrawScore', 'draw-score', float(0, -1, 1), 'Value of a draw for White; -1 is Armageddon.'),
  cacheHistoryLength: option('CacheHistoryLength', 'cache-history-length', int(0, 0, 7), 'Number of earlier positions that must be equal too, for a cached evaluation to be used and, in a graph search, for two lines to share a node. With 0 a position may get the evaluation that it had after other moves.'),
  ramLimitMb: option('RamLimitMb', 'ramlimit-mb', int(0, 0, 1e8), 'Memory of the search tree in megabytes, evaluation cache and network not counted; at the limit the search forgets its least visited lines. 0 = half of the machine or container, at most 16000, less where network and cache need more than the other half.', { reserves: 1e6 }),
  analyseMode: option('UCI_AnalyseMode', '', bool(false), 'Set by GUIs for analysis: the trees of earlier positions are kept while memory lasts, strength is never limited, and go movetime uses its time.'),

  // How leaves are gathered into batches: their size, collisions with leaves in flight, terminals out of order.
  minibatchSize: option('MinibatchSize', 'minibatch-size', int(0, 0, LARGEST_MINIBATCH), 'Positions evaluated together; 0 = the value the backend recommends.', { effect: 'pool', reserves: POSITION_BYTES }),
  batchesInFlight: option('BatchesInFlight', 'batches-in-flight', int(0, 0, 64), 'Minibatches in flight at the same time; 0 = one more than the evaluator threads, and up to three for each of them in a large tree, but 1 for one thread with batches of 1.', HIDDEN),
  maxCollisionEvents: option('MaxCollisionEvents', 'max-collision-events', int(917, 1, 65536), 'After this many walks that end at a leaf in flight (collisions) a batch is sent, full or not.'),
  maxCollisionVisits: option('MaxCollisionVisits', 'max-collision-visits', int(80000, 1, 1e8), 'After this many visits that collide a batch is sent, full or not; in a large tree.'),
  maxCollisionVisitsScalingStart: option('MaxCollisionVisitsScalingStart', 'max-collision-visits-scaling-start', int(28, 1, 100000), 'Tree size up to which a batch is sent at the first collision.'),
  maxCollisionVisitsScalingEnd: option('MaxCollisionVisitsScalingEnd', 'max-collision-visits-scaling-end', int(145000, 0, 1e8), 'Tree size from which MaxCollisionVisits may collide; 0 = always.'),
  maxCollisionVisitsScalingPower: option('MaxCollisionVisitsScalingPower', 'max-collision-visits-scaling-power', float(1.25, 0.01, 100), 'Exponent with which the visits that may collide grow between ScalingStart and ScalingEnd.'),
  maxPrefetch: option('MaxPrefetch', 'max-prefetch', int(32, 0, 1024), 'With one thread and minibatches of one: positions evaluated at a time, the leaf and others that will probably be visited, for the cache. 0 or 1 = the leaf alone. Larger batches hold leaves only.', { ...HIDDEN, reserves: POSITION_BYTES }),
  solidTreeThreshold: option('SolidTreeThreshold', 'solid-tree-threshold', int(100, 1, 2000000000), 'With one thread and minibatches of one: visits from which searchmoves goes by priors alone where it leaves likelier moves out, as in lc0. No effect otherwise.', HIDDEN),
  outOfOrderEval: option('OutOfOrderEval', 'out-of-order-eval', bool(true), 'Back up terminal positions at once, so that they take no place in a batch.'),
  maxOutOfOrderEvalsFactor: option('MaxOutOfOrderEvalsFactor', 'max-out-of-order-evals-factor', float(2.4, 0, 100), 'Most terminal positions that OutOfOrderEval backs up while a batch is gathered, in minibatches.'),
  nodesPerSecondLimit: option('NodesPerSecondLimit', 'nps-limit', float(0, 0, 1e6), 'Upper limit of nodes searched a second; 0 = none.'),

  // Which move a node searches next: exploration, value of unvisited moves, temperature of the priors, widening.
  cpuct: option('CPuct', 'cpuct', float(1.745, 0, 100), 'Exploration constant of the PUCT formula: higher searches wider, lower deeper.'),
  cpuctAtRoot: option('CPuctAtRoot', 'cpuct-at-root', float(1.745, 0, 100), 'CPuct of the root node (with RootHasOwnCpuctParams).', HIDDEN),
  cpuctBase: option('CPuctBase', 'cpuct-base', float(38739, 1, 1e9), 'Visits at which CPuct starts to grow: lower grows earlier.'),
  cpuctBaseAtRoot: option('CPuctBaseAtRoot', 'cpuct-base-at-root', float(38739, 1, 1e9), 'CPuctBase of the root node (with RootHasOwnCpuctParams).', HIDDEN),
  cpuctFactor: option('CPuctFactor', 'cpuct-factor', float(3.894, 0, 1000), 'Multiplier of the growth of CPuct.'),
  cpuctFactorAtRoot: option('CPuctFactorAtRoot', 'cpuct-factor-at-root', float(3.894, 0, 1000), 'CPuctFactor of the root node (with RootHasOwnCpuctParams).', HIDDEN),
  rootHasOwnCpuctParams: option('RootHasOwnCpuctParams', 'root-has-own-cpuct-params', bool(false), 'At the root use CPuctAtRoot, CPuctBaseAtRoot and CPuctFactorAtRoot.', HIDDEN),
  fpuStrategy: option('FpuStrategy', 'fpu-strategy', oneOf('reduction', ['reduction', 'absolute']), 'Value of an unvisited move: reduction = value of the node - FpuValue * sqrt(sum of the priors of visited moves), absolute = FpuValue.'),
  fpuValue: option('FpuValue', 'fpu-value', float(0.33, -100, 100), 'First play urgency: value of unvisited moves, or its reduction (FpuStrategy).'),
  fpuStrategyAtRoot: option('FpuStrategyAtRoot', 'fpu-strategy-at-root', oneOf('same', ['reduction', 'absolute', 'same']), 'FpuStrategy of the root node.', HIDDEN),
  fpuValueAtRoot: option('FpuValueAtRoot', 'fpu-value-at-root', float(1, -100, 100), 'FpuValue of the root node, unless FpuStrategyAtRoot is same.', HIDDEN),
  wideningFactor: option('WideningFactor', 'widening-factor', float(0, 0, 256), 'Progressive widening: a node with N visits searches its first factor times N^WideningExponent moves only; 0 = all.', HIDDEN),
  wideningExponent: option('WideningExponent', 'widening-exponent', float(0.5, 0, 1), 'How fast the number of moves grows with progressive widening.', HIDDEN),

  // What makes the root search other moves than its priors do: noise, sequential halving (Gumbel AlphaZero).
  dirichletNoiseEpsilon: option('DirichletNoiseEpsilon', 'noise-epsilon', float(0, 0, 1), 'Share of Dirichlet noise in the policy of the root.', HIDDEN),
  dirichletNoiseAlpha: option('DirichletNoiseAlpha', 'noise-alpha', float(0.3, 0, 1e7), 'Alpha of the Dirichlet noise: larger is flatter.', HIDDEN),
  gumbelNoiseScale: option('GumbelNoiseScale', 'gumbel-noise', float(0, 0, 10), 'Gumbel noise on the logits of the root policy, instead of Dirichlet noise; 1 samples moves as the policy does.', HIDDEN),
  forcedPlayouts: option('ForcedPlayouts', 'forced-playouts', float(0, 0, 100), 'Each visited move of the root gets at least sqrt(this * prior * visits of the root) visits, noise included; KataGo takes 2 for self-play. Without effect under SequentialHalving.', HIDDEN),
  sequentialHalving: option('SequentialHalving', 'sequential-halving', bool(false), 'Sequential halving at the root: equal visits for the GumbelCandidates best moves, then for the better half of them, and so on. No effect without a limit of visits (go nodes, self-play). With GumbelNoiseScale 1 this is the search of Gumbel AlphaZero.', HIDDEN),
  gumbelCandidates: option('GumbelCandidates', 'gumbel-candidates', int(16, 1, 256), 'Number of moves with which SequentialHalving begins: those with the highest priors, noise included.', HIDDEN),
  gumbelVisitOffset: option('GumbelVisitOffset', 'gumbel-visit-offset', float(50, 0, 1e6), 'SequentialHalving ranks moves by logit + (this + most visits of a move) * GumbelValueScale * win probability.', HIDDEN),
  gumbelValueScale: option('GumbelValueScale', 'gumbel-value-scale', float(1, 0, 1000), 'Weight of the win probability in the ranking of SequentialHalving (GumbelVisitOffset).', HIDDEN),

  // The bonus for short wins and long losses, from the moves-left output of a network (lc0: MLH).
  movesLeftMaxEffect: option('MovesLeftMaxEffect', 'moves-left-max-effect', float(0.0345, 0, 1), 'Largest bonus for a shorter win or a longer loss.'),
  movesLeftThreshold: option('MovesLeftThreshold', 'moves-left-threshold', float(0.8, 0, 1), 'Moves left count where |win - loss| is above this.'),
  movesLeftSlope: option('MovesLeftSlope', 'moves-left-slope', float(0.0027, 0, 1), 'Bonus per ply of difference in moves left.'),
  movesLeftConstantFactor: option('MovesLeftConstantFactor', 'moves-left-constant-factor', float(0, -1, 1), 'Constant multiplier of the moves-left bonus.'),
  movesLeftScaledFactor: option('MovesLeftScaledFactor', 'moves-left-scaled-factor', float(1.6521, -2, 2), 'Multiplier of the moves-left bonus that grows with the value.'),
  movesLeftQuadraticFactor: option('MovesLeftQuadraticFactor', 'moves-left-quadratic-factor', float(-0.6521, -1, 1), 'Multiplier of the moves-left bonus that grows with the square of the value.'),

  // Contempt and the rescaling of win, draw and loss.
  contemptMode: option('ContemptMode', 'contempt-mode', oneOf('play', ['play', 'white_side_analysis', 'black_side_analysis', 'disable']), 'Side that contempt favours: the mover in play, a fixed side in analysis.'),
  contempt: option('Contempt', 'contempt', plainText(''), 'Simulated Elo advantage: a list of [name=]value, names compared with UCI_Opponent.', { check: (value) => checkContempt(String(value)) }),
  contemptMaxValue: option('ContemptMaxValue', 'contempt-max-value', float(420, 0, 10000), 'Largest absolute contempt.', HIDDEN),
  wdlCalibrationElo: option('WDLCalibrationElo', 'wdl-calibration-elo', float(0, 0, 10000), 'Elo of the active side for sharpening WDL; 0 keeps the raw WDL.'),
  wdlContemptAttenuation: option('WDLContemptAttenuation', 'wdl-contempt-attenuation', float(1, -10, 10), 'Factor of the Elo advantage; 0.5 to 0.6 is best for matches.', HIDDEN),
  wdlMaxS: option('WDLMaxS', 'wdl-max-s', float(1.4, 0, 10), 'Upper limit of the width of the WDL distribution in the contempt model.', HIDDEN),
  wdlEvalObjectivity: option('WDLEvalObjectivity', 'wdl-eval-objectivity', float(1, 0, 1), 'Reported scores: 0 = as searched with contempt, 1 = objective.'),
  wdlDrawRateTarget: option('WDLDrawRateTarget', 'wdl-draw-rate-target', float(0, 0, 0.999), 'Draw rate of equal positions to aim for; 0 keeps the raw WDL.', HIDDEN),
  wdlDrawRateReference: option('WDLDrawRateReference', 'wdl-draw-rate-reference', float(0.5, 0.001, 0.999), 'Draw rate that the network predicts at default settings.'),
  wdlBookExitBias: option('WDLBookExitBias', 'wdl-book-exit-bias', float(0.65, -2, 2), 'Bias of the opening book with which the Elo of Contempt was measured (start position about 0.2, half of the games won by White 1).', HIDDEN),
  uciOpponent: option('UCI_Opponent', '', freeText(''), 'Name of the opponent, set by the GUI.'),
  uciRatingAdv: option('UCI_RatingAdv', '', float(0, -10000, 10000), 'Elo advantage over the opponent, set by some GUIs: the default contempt.'),

  // How the move to be played is drawn from the visits.
  temperature: option('Temperature', 'temperature', float(0, 0, 100), 'Randomness of the move played; 0 plays the best.', HIDDEN),
  tempDecayMoves: option('TempDecayMoves', 'tempdecay-moves', int(0, 0, 640), 'Moves over which the temperature decays to 0; 0 = no decay.', HIDDEN),
  tempDecayDelayMoves: option('TempDecayDelayMoves', 'tempdecay-delay-moves', int(0, 0, 100), 'Moves before the decay starts.', HIDDEN),
  tempCutoffMove: option('TempCutoffMove', 'temp-cutoff-move', int(0, 0, 1000), 'Move number from which TempEndgame is used; 0 = never.', HIDDEN),
  tempEndgame: option('TempEndgame', 'temp-endgame', float(0, 0, 100), 'Temperature from TempCutoffMove on, and the floor of the decay.', HIDDEN),
  tempValueCutoff: option('TempValueCutoff', 'temp-value-cutoff', float(100, 0, 100), 'Moves worse than the best by more than this win percentage are never picked.', HIDDEN),
  tempVisitOffset: option('TempVisitOffset', 'temp-visit-offset', float(0, -1000, 1000), 'Added to the visits of each move before the temperature is applied.', HIDDEN),

  // When a search stops before its limits.
  smartPruningFactor: option('SmartPruningFactor', 'smart-pruning-factor', float(1.33, 0, 10), 'Stop when no other move can overtake the best in the time left divided by this, of a clock or of go movetime; 0 = never. Without them a search stops early only if its moves are proven or forced.'),
  smartPruningMinimumBatches: option('SmartPruningMinimumBatches', 'smart-pruning-minimum-batches', int(0, 0, 10000), 'Batches to evaluate before smart pruning may stop the search.'),
  minimumKldGainPerNode: option('MinimumKLDGainPerNode', 'minimum-kldgain-per-node', float(0, 0, 1), 'Stop when the visit distribution changes less than this per node; 0 = never.', HIDDEN),
  kldGainAverageInterval: option('KLDGainAverageInterval', 'kldgain-average-interval', int(100, 1, 1e7), 'Nodes between two computations of the KLD gain.', HIDDEN),
  nodesAsPlayouts: option('NodesAsPlayouts', 'nodes-as-playouts', bool(false), 'Let `go nodes` count new playouts instead of visits.', HIDDEN),
};

type Table = typeof table;

/** All search tunables under their code names, as plain numbers, booleans and strings: it can be posted to a thread. */
export type SearchParams = { readonly [Name in keyof Table]: ValueOf<Table[Name]> };

export const searchOptions: readonly OptionSpec[] = Object.values(table);

/**
 * The typed parameters for values keyed by UCI name (as `parseOptionValue` returns them); what is not given keeps its
 * default, names of other rooms are ignored.
 */
export function createSearchParams(valuesByUciName: ReadonlyMap<string, OptionValue>): SearchParams {
  const values = Object.entries(table).map(([name, spec]) => [name, valuesByUciName.get(spec.uci) ?? spec.default]);
  return Object.fromEntries(values) as SearchParams;
}

export const defaultSearchParams = createSearchParams(new Map());
