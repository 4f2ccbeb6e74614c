/**
 * The columns of a training shard (an Arrow IPC file). Python reads them by name; a change of meaning raises
 * SHARDS_VERSION. Shards of earlier programs lack policy_kl and value_error. The rows of a game keep its order, so that the training finds the opponent's reply in the next row.
 *
 * | column | meaning |
 * |---|---|
 * | masks | little-endian uint64 a plane, bit s = square s (a1 = 0), mover's side at the bottom |
 * | values | the value of each plane listed in `sardonyx.value_planes`; all other planes have the value 1 |
 * | legal | policy indices of all legal moves |
 * | policy_index | the moves to learn |
 * | policy_weight | their probabilities, or null where there are scores |
 * | policy_cp | their centipawns for the mover, ±(32000 − 2n) = mate in n, or null |
 * | result | 1 won, 0 drawn, −1 lost for the mover, or null |
 * | cp, q, d | score, W − L and draw probability of the position for the mover, or null |
 * | plies_left | to the end of the game by the rules, or null where the game ended otherwise |
 * | policy_kl, value_error | how far a network's first impression was from the label: KL of its policy in nats, error of its W − L, or null |
 * | game, ply | hash of the game, and where in it: the ply, or in lc0's records the number of the record |
 */
import {
  Field,
  FixedSizeBinary,
  FixedSizeList,
  Float32,
  Int8,
  Int16,
  List,
  Schema,
  Uint16,
  Uint32,
} from 'apache-arrow';
import type { InputEncoding, PolicyEncoding } from '../encoding/index.js';

export const SHARDS_VERSION = '1';
export const BATCH_ROWS = 20_000;

export function createShardSchema(input: InputEncoding, policy: PolicyEncoding): Schema {
  const item = <T extends Float32 | Uint16 | Int16>(type: T): Field<T> => new Field('item', type, false);
  return new Schema(
    [
      new Field('masks', new FixedSizeBinary(8 * input.planes), false),
      new Field('values', new FixedSizeList(input.valuePlanes.length, item(new Float32())), false),
      new Field('legal', new List(item(new Uint16())), false),
      new Field('policy_index', new List(item(new Uint16())), false),
      new Field('policy_weight', new List(item(new Float32())), true),
      new Field('policy_cp', new List(item(new Int16())), true),
      new Field('result', new Int8(), true),
      new Field('cp', new Int16(), true),
      new Field('q', new Float32(), true),
      new Field('d', new Float32(), true),
      new Field('plies_left', new Float32(), true),
      new Field('policy_kl', new Float32(), true),
      new Field('value_error', new Float32(), true),
      new Field('game', new Uint32(), false),
      new Field('ply', new Uint16(), false),
    ],
    new Map([
      ['sardonyx.input', input.name],
      ['sardonyx.policy', policy.name],
      ['sardonyx.policy_size', String(policy.size)],
      ['sardonyx.planes', String(input.planes)],
      ['sardonyx.value_planes', input.valuePlanes.join(',')],
      ['sardonyx.shards_version', SHARDS_VERSION],
    ]),
  );
}
