/**
 * Chooses among the bundled networks of a backend. On CPUs there may be several: one that knows more, and one that evaluates more
 * positions in the same time. Which of them plays better depends on what this CPU does fast, so short searches measure the speeds that
 * are played (played-speed.ts), and the network with the highest predicted strength is chosen:
 *
 *   strength = Elo at equal nodes + Elo per doubling of speed · log2(nodes/s)
 *
 * Other programs slow the searches down, and not always alike. So each of the first starts adds rounds of measurements (speed-store.ts
 * keeps them), until there are enough. Rounds in which a network got little of the CPU do not count. The median of the others decides
 * if most of them agree with it; otherwise it is a tie.
 */
import { readProgramFile } from '#platform/program-files.js';
import { failure, type Result, success } from '../../base/util/index.js';
import { type Bundle, type BundledNetwork, listSuitableNetworks } from './network-catalogue.js';
import type { Round } from './played-speed.js';
import { SpeedStore, type SpeedTable } from './speed-store.js';

/** Less is a tie, which goes to the network that is stronger at equal nodes: speeds are off by a few per cent. */
export const CLEAR_LEAD_ELO = 10;
/** Of all rounds, this share must agree. */
const AGREEING_SHARE = 0.75;
/** Two starts are enough if their rounds agree; if not, more are measured, but not for ever. */
const LEAST_ROUNDS = 8;
const MOST_ROUNDS = 24;
/** Least nodes/s of a measurement that counts: ten nodes in its time. Slower ones got almost nothing of the CPU. */
const LEAST_SPEED = 65;
const BUSY = 'other programs keep the CPU busy';
/** A round counts if every network reached this share of its best speed. */
const LEAST_SHARE = 1 / 3;

export interface Candidate {
  readonly network: BundledNetwork;
  /** Of the fastest search with the default number of threads. */
  readonly nodesPerSecond: number;
  /** Predicted strength on this machine, minus that of the first candidate; the median of all rounds. */
  readonly predictedLeadElo: number;
}

export interface NetworkSelection {
  readonly network: BundledNetwork;
  /** What was compared, in the order of bundled.json; empty if there was no choice, or the speeds are not known. */
  readonly candidates: readonly Candidate[];
  /** Why the speeds of several candidates are not known; null if they are, or are not needed. */
  readonly problem: string | null;
  /** Rounds of measurements. */
  readonly rounds: number;
  /** How many of them name the network that their median names. */
  readonly agreeing: number;
  /** Whether those are enough; if not, the network that is stronger at equal nodes plays. */
  readonly isClear: boolean;
  /** Whether there are enough rounds; until then each start measures more. */
  readonly isSure: boolean;
  /** File of the speeds; null if they were not kept. */
  readonly path: string | null;
}

/** Measures networks of the program, in their order. Never rejects. */
export type SpeedMeasure = (networks: readonly BundledNetwork[]) => Promise<Result<readonly Round[]>>;

export class NetworkSelector {
  /** Measurements of this process, by the digests of the networks. */
  private readonly known = new Map<string, Promise<Measurement>>();

  constructor(
    private readonly measure: SpeedMeasure = measureBundledNetworks,
    private readonly store: SpeedStore = new SpeedStore(),
  ) {}

  /**
   * @param backend a provider of onnxruntime
   * @param precision as the user asks for it; '' = no wish
   * @returns null when nothing is bundled
   */
  async select(bundle: Bundle, backend: string, precision: string): Promise<NetworkSelection | null> {
    const suitable = listSuitableNetworks(bundle.networks, backend, precision);
    const [network] = suitable;
    if (network === undefined) return null;
    const single = createUnmeasured(network);
    const { eloPerSpeedDoubling } = bundle;
    const isComparable = suitable.every(({ eloAtEqualNodes }) => eloAtEqualNodes !== undefined);
    if (suitable.length < 2 || backend !== 'cpu' || eloPerSpeedDoubling === undefined || !isComparable) return single;
    const { speeds, path } = await this.findSpeeds(suitable, eloPerSpeedDoubling);
    const judgement = speeds.ok ? judge(suitable, speeds.value, eloPerSpeedDoubling) : null;
    if (judgement !== null) return { ...judgement, problem: null, path };
    const problem = speeds.ok ? BUSY : speeds.error;
    return { ...single, network: chooseByNodes(suitable), problem, isSure: false, path };
  }

  private findSpeeds(networks: readonly BundledNetwork[], eloPerSpeedDoubling: number): Promise<Measurement> {
    const key = networks.map(({ sha256 }) => sha256).join();
    const known = this.known.get(key) ?? this.readOrMeasure(networks, eloPerSpeedDoubling);
    this.known.set(key, known);
    return known;
  }

  private async readOrMeasure(networks: readonly BundledNetwork[], eloPerSpeedDoubling: number): Promise<Measurement> {
    const digests = networks.map(({ sha256 }) => sha256);
    const stored = await this.store.read(digests);
    if (stored !== null && judge(networks, stored.speeds, eloPerSpeedDoubling)?.isSure)
      return { speeds: success(stored.speeds), path: stored.path };
    const measured = await this.measure(networks);
    const earlier = (digest: string): readonly number[] => stored?.speeds.get(digest) ?? [];
    const rounds = (measured.ok ? measured.value : []).filter((round) => round.every((speed) => speed >= LEAST_SPEED));
    const speeds = new Map(
      digests.map((digest, index) => [digest, [...earlier(digest), ...rounds.map((round) => round[index])]]),
    );
    if (listCountedRounds(networks, speeds).length === 0)
      return { speeds: failure(measured.ok ? BUSY : measured.error), path: null };
    return { speeds: success(speeds), path: await this.store.write(speeds) };
  }
}

/** The selector of the program. */
export const networkSelector = new NetworkSelector();

interface Measurement {
  readonly speeds: Result<SpeedTable>;
  readonly path: string | null;
}

/** The choice of a network without measurements. */
export function createUnmeasured(network: BundledNetwork): NetworkSelection {
  return { network, candidates: [], rounds: 0, agreeing: 0, isClear: true, problem: null, isSure: true, path: null };
}

function listRounds(networks: readonly BundledNetwork[], speeds: SpeedTable): readonly Round[] {
  const columns = networks.map(({ sha256 }) => speeds.get(sha256) ?? []);
  return columns[0].map((_, round) => columns.map((column) => column[round]));
}

/** The rounds in which every network came near its best speed; in the others one of them got little of the CPU. */
function listCountedRounds(networks: readonly BundledNetwork[], speeds: SpeedTable): readonly Round[] {
  const rounds = listRounds(networks, speeds);
  const least = networks.map((_, index) => LEAST_SHARE * Math.max(...rounds.map((round) => round[index])));
  return rounds.filter((round) => round.every((speed, index) => speed >= least[index]));
}

/** @returns null when no round counts */
function judge(
  networks: readonly BundledNetwork[],
  speeds: SpeedTable,
  eloPerSpeedDoubling: number,
): Omit<NetworkSelection, 'problem' | 'path'> | null {
  const rounds = listCountedRounds(networks, speeds);
  if (rounds.length === 0) return null;
  const [first] = networks;
  const elo = ({ eloAtEqualNodes = 0 }: BundledNetwork, speed: number): number =>
    eloAtEqualNodes + eloPerSpeedDoubling * Math.log2(speed);
  const leads = networks.map((network, index) =>
    rounds.map((round) => elo(network, round[index]) - elo(first, round[0])),
  );
  const candidates = networks.map((network, index) => ({
    network,
    nodesPerSecond: Math.max(...rounds.map((round) => round[index])),
    predictedLeadElo: computeMedian(leads[index]),
  }));
  const { network } = chooseStrongest(candidates);
  const choices = rounds.map((_, round) =>
    chooseStrongest(candidates.map((row, index) => ({ ...row, predictedLeadElo: leads[index][round] }))),
  );
  const agreeing = choices.filter((choice) => choice.network === network).length;
  const isClear = agreeing >= AGREEING_SHARE * rounds.length;
  const isSure = listRounds(networks, speeds).length >= MOST_ROUNDS || (rounds.length >= LEAST_ROUNDS && isClear);
  const choice = isClear ? network : chooseByNodes(networks);
  return { network: choice, candidates, rounds: rounds.length, agreeing, isClear, isSure };
}

function computeMedian(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

function chooseStrongest(candidates: readonly Candidate[]): Candidate {
  const best = Math.max(...candidates.map(({ predictedLeadElo }) => predictedLeadElo));
  const tied = candidates.filter(({ predictedLeadElo }) => predictedLeadElo >= best - CLEAR_LEAD_ELO);
  const strongest = chooseByNodes(tied.map(({ network }) => network));
  return tied.find(({ network }) => network === strongest) ?? tied[0];
}

/** The strongest network at equal nodes, the first one of several. */
function chooseByNodes(networks: readonly BundledNetwork[]): BundledNetwork {
  const getElo = ({ eloAtEqualNodes = 0 }: BundledNetwork): number => eloAtEqualNodes;
  return networks.reduce((first, next) => (getElo(next) > getElo(first) ? next : first));
}

async function measureBundledNetworks(networks: readonly BundledNetwork[]): Promise<Result<readonly Round[]>> {
  const models = [];
  try {
    for (const { file } of networks) {
      const bytes = readProgramFile(`models/${file}`);
      if (bytes === null) return failure(`there is no file models/${file}`);
      models.push({ bytes, name: file });
    }
  } catch (error) {
    return failure((error as Error).message);
  }
  // Only then: most starts need no measurement.
  const { measurePlayedSpeeds } = await import('./played-speed.js');
  return measurePlayedSpeeds(models);
}
