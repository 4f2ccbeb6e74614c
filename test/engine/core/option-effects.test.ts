/** A new option is one declaration: its effect says what a running engine does when it changes. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { type OptionEffect, type OptionSpec, OptionStore } from '#sardonyx/base/options/index.js';
import { unwrap } from '#sardonyx/base/util/index.js';
import { listOptionSpecs } from '#sardonyx/engine/app/options.js';
import { Engine, type NetworkPort } from '#sardonyx/engine/core/index.js';
import { FakeWorld, settle } from './fake-ports.js';

const D2D4 = 11 | (27 << 6);

class World extends FakeWorld {
  readonly taken: string[] = [];

  override async createNetwork(options: OptionStore): Promise<NetworkPort> {
    return Object.assign(await super.createNetwork(options), {
      takeEvaluatorOptions: () => this.taken.push('evaluator options'),
      takeTableOptions: () => this.taken.push('table options'),
    });
  }
}

/** What the engine does, now and with the next search, when the made-up option `Novelty` changes. */
async function change(effect: OptionEffect): Promise<string[]> {
  const novelty: OptionSpec = { uci: 'Novelty', effect, flag: 'novelty', kind: 'bool', default: false, help: '' };
  const world = new World();
  world.onCreateSearch = (search) => {
    search.onGo = (id) => setImmediate(() => search.send({ type: 'bestMove', id, move: D2D4, ponder: 0 }));
  };
  const ignore = (): void => undefined;
  const engine = new Engine(new OptionStore([...listOptionSpecs(), novelty]), world, {
    report: ignore,
    moveStats: ignore,
    bestMove: ignore,
    warning: ignore,
    note: ignore,
    debug: ignore,
    error: ignore,
  });
  await engine.prepare();
  await settle();
  const [network] = world.networks;
  const posted = world.search.posted.length;
  unwrap(engine.setOption('Novelty', 'true'));
  const told = world.search.posted.slice(posted).map(({ type }) => type);
  if (network.cleared > 0) told.push('clearCache' as never);
  engine.go({ nodes: 1 });
  await engine.whenIdle();
  const networks = world.networks.length;
  await engine.dispose();
  return [...told, ...world.taken, ...(networks > 1 ? ['load'] : [])];
}

const EFFECTS: Readonly<Record<OptionEffect, readonly string[]>> = {
  search: [],
  display: [],
  log: [],
  start: [],
  ignored: [],
  evaluator: ['clearTree', 'evaluator options'],
  tables: ['table options'],
  strength: [],
  pool: ['load'],
  forgetTree: ['clearTree'],
  forgetAll: ['newGame', 'clearCache'],
};

for (const [effect, expected] of Object.entries(EFFECTS)) {
  test(`an option with the effect ${effect} needs no other line to take effect`, async () => {
    assert.deepEqual(await change(effect as OptionEffect), expected);
  });
}
