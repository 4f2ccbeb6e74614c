/**
 * Measures how many nodes/s a search of this machine reaches with each of several networks: short searches in turn, by the engine as it plays.
 * Evaluations/s would mislead, because a fast network leaves the search more to wait for. Other programs only ever make a search
 * slower, so the best one counts; two that agree show that it was no accident.
 */
import { createPoolNetwork, Engine, MateClient } from '../engine/index.js';
import { acceptedOptions, engineOptions } from '../engine/options.js';
import { EvaluatorPool, type ModelSource } from '../nn/index.js';
import { networkOptions } from '../nn/options.js';
import { OptionStore } from '../options/index.js';
import { SearchClient } from '../search/index.js';
import { searchOptions } from '../search/options.js';
import { failure, type Result, success } from '../util/index.js';

export interface PlayedSpeeds {
  /** In the order of the networks. */
  readonly nodesPerSecond: readonly number[];
  /** Whether the two best searches of every network agree. */
  readonly isSteady: boolean;
}

export interface Searcher {
  /** Makes a short search of its own. @returns nodes/s */
  search(): Promise<number>;
  dispose(): Promise<void>;
}

const SEARCH_MS = 150;
const LEAST_ROUNDS = 3;
const MOST_ROUNDS = 5;
/** The better of two searches that agree is at most this much faster. */
const AGREEMENT = 0.05;
/** A middlegame with many moves. */
const POSITION = 'r1bq1rk1/pp2bppp/2n1pn2/2pp4/3P1B2/2PBPN2/PP1N1PPP/R2QK2R w KQ - 0 8';

/** Fails if a network cannot be run; never rejects. */
export async function measurePlayedSpeeds(models: readonly ModelSource[]): Promise<Result<PlayedSpeeds>> {
  const searchers: Searcher[] = [];
  try {
    for (const model of models) searchers.push(await openSearcher(model));
    return success(await compareSearchers(searchers));
  } catch (error) {
    return failure((error as Error).message);
  } finally {
    for (const searcher of searchers) await searcher.dispose();
  }
}

/** Searches in rounds until the speeds are steady, or for MOST_ROUNDS. */
export async function compareSearchers(searchers: readonly Searcher[]): Promise<PlayedSpeeds> {
  const speeds = searchers.map((): number[] => []);
  for (let round = 1; ; round++) {
    for (const [index, searcher] of searchers.entries()) speeds[index].push(await searcher.search());
    const isSteady = speeds.every((found) => {
      const [best, second = 0] = found.sort((a, b) => b - a);
      return best <= second * (1 + AGREEMENT);
    });
    if ((isSteady && round >= LEAST_ROUNDS) || round === MOST_ROUNDS)
      return { nodesPerSecond: speeds.map(([best]) => best), isSteady };
  }
}

async function openSearcher(model: ModelSource): Promise<Searcher> {
  const options = new OptionStore([...networkOptions, ...engineOptions, ...searchOptions, ...acceptedOptions]);
  const cachePositions = options.getNumber('NNCacheSize');
  const pool = await EvaluatorPool.create({ model, backend: 'cpu', cachePositions });
  let last = 0;
  let isOver: (speed: number) => void = () => undefined;
  const ignore = (): void => undefined;
  const ports = {
    createNetwork: async () => createPoolNetwork(pool),
    createSearch: (events: ConstructorParameters<typeof SearchClient>[0]) => new SearchClient(events),
    createMateSearch: () => new MateClient(),
  };
  const engine = new Engine(options, ports, {
    report: ({ nodes, timeMs }) => {
      if (timeMs > 0) last = (1000 * nodes) / timeMs;
    },
    bestMove: () => isOver(last),
    moveStats: ignore,
    warning: ignore,
    note: ignore,
    debug: ignore,
    error: ignore,
  });
  engine.setPosition(POSITION, []);
  await engine.prepare();
  return {
    search: () => {
      engine.newGame();
      engine.setPosition(POSITION, []);
      last = 0;
      return new Promise((resolve) => {
        isOver = resolve;
        engine.go({ infinite: true });
        setTimeout(() => engine.stop(), SEARCH_MS);
      });
    },
    dispose: () => engine.dispose(),
  };
}
