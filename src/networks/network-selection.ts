/**
 * Chooses among the bundled networks of a backend. On CPUs there may be several: one that knows more, and one that evaluates more
 * positions in the same time. Which of them plays better depends on what this CPU does fast, so short searches measure the speeds that
 * are played (played-speed.ts), at every start until two measurements agree (speed-store.ts keeps them), and the network with the
 * highest predicted strength is chosen:
 *
 *   strength = Elo at equal nodes + Elo per doubling of speed · log2(nodes/s)
 */
import { readProgramFile } from '#platform/program-files.js';
import { failure, type Result, success } from '../util/index.js';
import { type Bundle, type BundledNetwork, listSuitableNetworks } from './bundled-networks.js';
import type { PlayedSpeeds } from './played-speed.js';
import { SpeedStore, type SpeedTable } from './speed-store.js';

/** Less is a tie, which goes to the network that is stronger at equal nodes: speeds are off by a few per cent. */
export const CLEAR_LEAD_ELO = 10;

export interface Candidate {
  readonly network: BundledNetwork;
  /** Of a search with the default number of threads. */
  readonly nodesPerSecond: number;
  /** Predicted strength on this machine, minus that of the first candidate. */
  readonly predictedLeadElo: number;
}

export interface NetworkSelection {
  readonly network: BundledNetwork;
  /** What was compared, in the order of bundled.json; empty if there was no choice, or the speeds are not known. */
  readonly candidates: readonly Candidate[];
  /** Why the speeds of several candidates are not known; null if they are, or are not needed. */
  readonly problem: string | null;
  /** Whether two measurements agree; until then each start measures. */
  readonly isSure: boolean;
  /** File of the speeds; null if they were not kept. */
  readonly path: string | null;
}

/** Measures networks of the program, in their order. Never rejects. */
export type SpeedMeasure = (networks: readonly BundledNetwork[]) => Promise<Result<PlayedSpeeds>>;

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
    const single = { network, candidates: [], problem: null, isSure: true, path: null };
    const { eloPerSpeedDoubling } = bundle;
    const isComparable = suitable.every(({ eloAtEqualNodes }) => eloAtEqualNodes !== undefined);
    if (suitable.length < 2 || backend !== 'cpu' || eloPerSpeedDoubling === undefined || !isComparable) return single;
    const { speeds, isSure, path } = await this.findSpeeds(suitable);
    if (!speeds.ok) {
      const byNodes = suitable.map((candidate) => ({ network: candidate, nodesPerSecond: 1, predictedLeadElo: 0 }));
      return { ...single, network: chooseStrongest(byNodes).network, problem: speeds.error, isSure, path };
    }
    const candidates = predictStrengths(suitable, speeds.value, eloPerSpeedDoubling);
    return { network: chooseStrongest(candidates).network, candidates, problem: null, isSure, path };
  }

  private findSpeeds(networks: readonly BundledNetwork[]): Promise<Measurement> {
    const key = networks.map(({ sha256 }) => sha256).join();
    const known = this.known.get(key) ?? this.readOrMeasure(networks);
    this.known.set(key, known);
    return known;
  }

  private async readOrMeasure(networks: readonly BundledNetwork[]): Promise<Measurement> {
    const digests = networks.map(({ sha256 }) => sha256);
    const stored = await this.store.read(digests);
    if (stored?.isSure) return { speeds: success(stored.speeds), isSure: true, path: stored.path };
    const measured = await this.measure(networks);
    const problem = measured.ok ? 'other programs keep the CPU busy' : measured.error;
    if (!measured.ok || !measured.value.isSteady) {
      return {
        speeds: stored === null ? failure(problem) : success(stored.speeds),
        isSure: false,
        path: stored?.path ?? null,
      };
    }
    const { nodesPerSecond } = measured.value;
    const earlier = (digest: string): number => stored?.speeds.get(digest) ?? 0;
    // Other programs only ever make a search slower.
    const speeds = new Map(digests.map((digest, index) => [digest, Math.max(nodesPerSecond[index], earlier(digest))]));
    const isSure = digests.every((digest, index) => isClose(nodesPerSecond[index], earlier(digest)));
    return { speeds: success(speeds), isSure, path: await this.store.write(speeds, isSure) };
  }
}

/** Two measurements of a speed agree. */
function isClose(a: number, b: number): boolean {
  return Math.max(a, b) <= 1.1 * Math.min(a, b);
}

/** The selector of the program. */
export const networkSelector = new NetworkSelector();

interface Measurement {
  readonly speeds: Result<SpeedTable>;
  readonly isSure: boolean;
  readonly path: string | null;
}

function predictStrengths(
  networks: readonly BundledNetwork[],
  speeds: SpeedTable,
  eloPerSpeedDoubling: number,
): Candidate[] {
  const measured = networks.map((network) => ({ network, nodesPerSecond: speeds.get(network.sha256) ?? 0 }));
  const strengths = measured.map(
    ({ network, nodesPerSecond }) => (network.eloAtEqualNodes ?? 0) + eloPerSpeedDoubling * Math.log2(nodesPerSecond),
  );
  return measured.map((row, index) => ({ ...row, predictedLeadElo: strengths[index] - strengths[0] }));
}

function chooseStrongest(candidates: readonly Candidate[]): Candidate {
  const best = Math.max(...candidates.map(({ predictedLeadElo }) => predictedLeadElo));
  const tied = candidates.filter(({ predictedLeadElo }) => predictedLeadElo >= best - CLEAR_LEAD_ELO);
  const getElo = ({ network }: Candidate): number => network.eloAtEqualNodes ?? 0;
  return tied.reduce((first, next) => (getElo(next) > getElo(first) ? next : first));
}

async function measureBundledNetworks(networks: readonly BundledNetwork[]): Promise<Result<PlayedSpeeds>> {
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
