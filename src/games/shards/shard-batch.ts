/**
 * Up to 20,000 training rows, encoded and laid out as an Arrow record batch.
 *
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
  type Data,
  Field,
  FixedSizeBinary,
  FixedSizeList,
  Float32,
  Int8,
  Int16,
  List,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  Uint16,
  Uint32,
} from 'apache-arrow';
import type { Move, Position } from '../../chess/rules/index.js';
import type { HistoryFill, InputEncoding, PolicyEncoding } from '../../networks/encoding/index.js';
import type { EncodedRow, TrainingRow } from '../records/index.js';
import { ListColumn, NumberColumn, type NumberType } from './columns.js';

const BATCH_ROWS = 20_000;

function createList<T extends NumberType>(name: string, type: T, isNullable: boolean): Field<List<T>> {
  return new Field(name, new List(new Field('item', type, false)), isNullable);
}

const LEGAL = createList('legal', new Uint16(), false);
const POLICY_INDEX = createList('policy_index', new Uint16(), false);
const POLICY_WEIGHT = createList('policy_weight', new Float32(), true);
const POLICY_CP = createList('policy_cp', new Int16(), true);

/** The columns with one number a row, and what each holds of a training row. */
const NUMBERS = [
  [new Field('result', new Int8(), true), 'result'],
  [new Field('cp', new Int16(), true), 'centipawns'],
  [new Field('q', new Float32(), true), 'valueWl'],
  [new Field('d', new Float32(), true), 'valueDraw'],
  [new Field('plies_left', new Float32(), true), 'pliesLeft'],
  [new Field('policy_kl', new Float32(), true), 'policyKl'],
  [new Field('value_error', new Float32(), true), 'valueError'],
  [new Field('game', new Uint32(), false), 'game'],
  [new Field('ply', new Uint16(), false), 'ply'],
] as const;

export class ShardBatch {
  private rowCount = 0;
  private readonly masks: Uint32Array;
  private readonly planeValues: Float32Array;
  private readonly values: Float32Array;
  private readonly legal = new ListColumn(LEGAL, BATCH_ROWS);
  private readonly policyIndex = new ListColumn(POLICY_INDEX, BATCH_ROWS);
  private readonly policyWeight = new ListColumn(POLICY_WEIGHT, BATCH_ROWS);
  private readonly policyScore = new ListColumn(POLICY_CP, BATCH_ROWS);
  private readonly numbers = NUMBERS.map(([field, source]) => ({
    source,
    column: new NumberColumn(field, BATCH_ROWS),
  }));
  /** All after the planes, in the schema's order. */
  private readonly columns = [
    this.legal,
    this.policyIndex,
    this.policyWeight,
    this.policyScore,
    ...this.numbers.map(({ column }) => column),
  ];

  constructor(
    private readonly schema: Schema,
    private readonly input: InputEncoding,
    private readonly policy: PolicyEncoding,
  ) {
    this.masks = new Uint32Array(BATCH_ROWS * 2 * input.planes);
    this.planeValues = new Float32Array(input.planes);
    this.values = new Float32Array(BATCH_ROWS * input.valuePlanes.length);
  }

  get rows(): number {
    return this.rowCount;
  }

  get isFull(): boolean {
    return this.rowCount === BATCH_ROWS;
  }

  /** Encodes the position and copies the row. The row's moves must be legal, and `legalMoves` complete. */
  append(
    position: Position,
    historyFill: HistoryFill,
    legalMoves: Uint16Array,
    legalCount: number,
    row: TrainingRow,
  ): void {
    const { input, policy, legal } = this;
    const maskOffset = this.rowCount * 2 * input.planes;
    const transform = input.writePacked(position, historyFill, this.masks, maskOffset, this.planeValues, 0);
    this.copyPlaneValues(this.planeValues);
    for (let i = 0; i < legalCount; i++) {
      const index = policy.moveToIndex(position, legalMoves[i] as Move, transform);
      if (policy.injective || legal.findInRow(index) < 0) legal.push(index);
    }
    legal.endRow(true);
    for (let i = 0; i < row.targetCount; i++) {
      this.pushTarget(policy.moveToIndex(position, row.targetMoves[i] as Move, transform), i, row);
    }
    this.endRow(row);
  }

  /** Copies planes and indices that are in this batch's encodings already. */
  appendEncoded(encoded: EncodedRow, row: TrainingRow): void {
    this.masks.set(encoded.masks, this.rowCount * 2 * this.input.planes);
    this.copyPlaneValues(encoded.planeValues);
    for (let i = 0; i < encoded.legalCount; i++) this.legal.push(encoded.legalIndices[i]);
    this.legal.endRow(true);
    for (let i = 0; i < row.targetCount; i++) this.pushTarget(encoded.targetIndices[i], i, row);
    this.endRow(row);
  }

  private copyPlaneValues(planeValues: Float32Array): void {
    const { valuePlanes } = this.input;
    const start = this.rowCount * valuePlanes.length;
    for (let i = 0; i < valuePlanes.length; i++) this.values[start + i] = planeValues[valuePlanes[i]];
  }

  private pushTarget(index: number, i: number, row: TrainingRow): void {
    const hasWeights = row.targetKind === 'weights';
    const earlier = this.policy.injective ? -1 : this.policyIndex.findInRow(index);
    if (earlier >= 0) {
      // Promotions may share an index. Then their weights are added; of their scores the first, which is the best, is kept.
      if (hasWeights) this.policyWeight.addAt(earlier, row.targetWeights[i]);
      return;
    }
    this.policyIndex.push(index);
    if (hasWeights) this.policyWeight.push(row.targetWeights[i]);
    else this.policyScore.push(row.targetScores[i]);
  }

  private endRow(row: TrainingRow): void {
    this.policyIndex.endRow(true);
    this.policyWeight.endRow(row.targetKind === 'weights');
    this.policyScore.endRow(row.targetKind === 'scores');
    for (const { source, column } of this.numbers) column.push(row[source]);
    this.rowCount++;
  }

  /** The rows so far, in the schema's order. Its buffers are this batch's own: write them out before `clear`. */
  toRecordBatch(): RecordBatch {
    const { rowCount: length, schema } = this;
    const [masksField, valuesField] = schema.fields;
    const maskBytes = new Uint8Array(this.masks.buffer, 0, length * 8 * this.input.planes);
    const valueCount = length * this.input.valuePlanes.length;
    const values = makeData({
      type: valuesField.type.children[0].type,
      length: valueCount,
      nullCount: 0,
      data: this.values,
    });
    const children: Data[] = [
      makeData({ type: masksField.type, length, nullCount: 0, data: maskBytes }),
      makeData({ type: valuesField.type, length, nullCount: 0, child: values }),
      ...this.columns.map((column) => column.toData()),
    ];
    return new RecordBatch(schema, makeData({ type: new Struct(schema.fields), length, nullCount: 0, children }));
  }

  clear(): void {
    this.rowCount = 0;
    for (const column of this.columns) column.clear();
  }
}

const SHARDS_VERSION = '1';

export function createShardSchema(input: InputEncoding, policy: PolicyEncoding): Schema {
  return new Schema(
    [
      new Field('masks', new FixedSizeBinary(8 * input.planes), false),
      new Field('values', new FixedSizeList(input.valuePlanes.length, new Field('item', new Float32(), false)), false),
      LEGAL,
      POLICY_INDEX,
      POLICY_WEIGHT,
      POLICY_CP,
      ...NUMBERS.map(([field]) => field),
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
