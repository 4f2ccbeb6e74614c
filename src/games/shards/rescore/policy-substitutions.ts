/**
 * Policies of other records, for positions that games reach in the same way (lc0's rescorer: --policy-substitutions): from the same
 * first position, fifty-move count included, by the same moves. A search of more visits can so improve the policies of games that
 * were played with fewer.
 */
import { describeReadFailure } from '#platform/files.js';
import { failure, type Result, readUntilBreak, success } from '../../../base/util/index.js';
import { readV6Games, V6_DELETED } from '../../records/index.js';
import { listInputs } from '../create-shards.js';
import { changePolicy, type RecordedGame, type RecordedPosition, readRecordedGame } from './recorded-game.js';

interface Line {
  /** The policy of the last position, and the transform that its moves have; null for a position that only leads on. */
  policy: { readonly probabilities: Float32Array; readonly transform: number } | null;
  readonly next: Map<string, Line>;
}

export class PolicySubstitutions {
  private readonly start: Line = { policy: null, next: new Map() };

  add({ positions }: RecordedGame): void {
    let line = this.start;
    for (const { record, position, transform } of positions) {
      const key = describe(position);
      const known = line.next.get(key);
      const next = known ?? { policy: null, next: new Map() };
      if (known === undefined) line.next.set(key, next);
      if ((record.invariance & V6_DELETED) === 0) next.policy = { probabilities: record.probabilities, transform };
      line = next;
    }
  }

  /** @returns the number of policies that were replaced */
  apply({ positions }: RecordedGame): number {
    let replaced = 0;
    let line: Line | undefined = this.start;
    for (const { record, position, transform } of positions) {
      line = line.next.get(describe(position));
      if (line === undefined) break;
      if (line.policy === null) continue;
      record.probabilities.set(changePolicy(position, line.policy.probabilities, line.policy.transform, transform));
      replaced++;
    }
    return replaced;
  }
}

function describe({ keyLow, keyHigh, rule50 }: RecordedPosition['position']): string {
  return `${keyLow} ${keyHigh} ${rule50}`;
}

/** Of all games in a folder of lc0 records. A damaged game is an error, since its policies would be missed without a word. */
export async function readPolicySubstitutions(folder: string): Promise<Result<PolicySubstitutions>> {
  const paths = await listInputs([folder]);
  if (!paths.ok) return paths;
  const substitutions = new PolicySubstitutions();
  const problems: string[] = [];
  for (const path of paths.value) {
    const games = readUntilBreak(readV6Games(path), (error) => problems.push(`${path}: ${describeReadFailure(error)}`));
    for await (const raw of games) {
      const game = readRecordedGame(raw);
      if (!game.ok) return failure(`${path}: ${game.error}`);
      substitutions.add(game.value);
    }
    if (problems.length > 0) return failure(problems[0]);
  }
  return success(substitutions);
}
