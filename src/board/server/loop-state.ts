/** What scripts/train/loop.py wrote about its generations: state.json in the folder of a loop. Read only. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LoopGeneration, LoopState } from '../protocol/replies.js';

type Raw = Readonly<Record<string, unknown>>;

/** Throws the sentence for the user. */
export function readLoopState(folder: string): LoopState {
  let raw: Raw;
  try {
    raw = JSON.parse(readFileSync(join(folder, 'state.json'), 'utf8'));
  } catch {
    throw new Error(`There is no training loop in ${folder}: its state.json cannot be read`);
  }
  const rows = Array.isArray(raw.generations) ? (raw.generations as Raw[]) : [];
  return {
    folder,
    generation: readNumber((raw.current as Raw | undefined)?.number) ?? 0,
    stage: typeof raw.stage === 'string' ? raw.stage : '',
    best: readNumber(raw.best) ?? 0,
    generations: rows.map(readGeneration),
  };
}

function readGeneration(row: Raw): LoopGeneration {
  const gate = row.gate as Raw | null | undefined;
  return {
    number: readNumber(row.number) ?? 0,
    games: readNumber(row.games),
    positions: readNumber(row.positions),
    policyLoss: readNumber(row.policy_loss),
    valueLoss: readNumber(row.value_loss),
    gate: gate == null ? null : [readNumber(gate.wins) ?? 0, readNumber(gate.draws) ?? 0, readNumber(gate.losses) ?? 0],
    promoted: typeof row.promoted === 'boolean' ? row.promoted : null,
    elo: readNumber(row.elo),
  };
}

function readNumber(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}
