/**
 * Measures how fast the engine searches with each of several networks: nodes/s, which decide how it plays. Evaluations/s would mislead,
 * because a search reaches a smaller share of them with a light network. The networks take turns, so that what else the machine
 * does slows all of them: the ratio of two speeds of one round says more than either of them.
 */

import { OptionStore } from '../../base/options/index.js';
import { failure, type Result, success } from '../../base/util/index.js';
import { EvaluatorPool, type ModelSource } from '../../networks/nn/index.js';
import { networkOptions } from '../../networks/nn/options.js';
import { SearchClient } from '../../search/index.js';
import { searchOptions } from '../../search/options.js';
import { createPoolNetwork, Engine, MateClient } from '../core/index.js';
import { acceptedOptions, engineOptions } from '../core/options.js';

/** Nodes/s of each network, in their order. */
export type Round = readonly number[];

export interface Searcher {
  /** Makes a short search of its own. @returns nodes/s */
  search(): Promise<number>;
  dispose(): Promise<void>;
}

const SEARCH_MS = 150;
const ROUNDS = 4;
/**
 * No round begins later than this. Searches of a quiet machine take 1.2 s; on a busy one the client waits for `readyok` meanwhile
 * (cutechess-cli for 15 s, then it gives the engine up), and the next starts measure the rest.
 */
const PATIENCE_MS = 2500;
/** A middlegame with many moves. */
const POSITION = 'r1bq1rk1/pp2bppp/2n1pn2/2pp4/3P1B2/2PBPN2/PP1N1PPP/R2QK2R w KQ - 0 8';

/** Fails if a network cannot be run; never rejects. */
export async function measurePlayedSpeeds(models: readonly ModelSource[]): Promise<Result<readonly Round[]>> {
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

/** One round at least. @param now in milliseconds */
export async function compareSearchers(
  searchers: readonly Searcher[],
  now: () => number = () => performance.now(),
): Promise<readonly Round[]> {
  const rounds: number[][] = [];
  const end = now() + PATIENCE_MS;
  while (rounds.length === 0 || (rounds.length < ROUNDS && now() < end)) {
    const round: number[] = [];
    for (const searcher of searchers) round.push(await searcher.search());
    rounds.push(round);
  }
  return rounds;
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
