/**
 * Chooses among the bundled networks of a backend. On CPUs there may be several: one that knows more, and one that evaluates more
 * positions in the same time. Which of them plays better depends on what this CPU does fast, so their speeds are measured once
 * on each machine (speed-store.ts keeps them), and the network with the highest predicted strength is chosen:
 *
 *   strength = Elo at equal nodes + Elo per doubling of speed · log2(evaluations/s)
 */
import { readProgramFile } from '#platform/program-files.js';
import { measureNetworkSpeeds, type NetworkSpeeds } from '../nn/index.js';
import { failure, type Result } from '../util/index.js';
import { type Bundle, type BundledNetwork, listSuitableNetworks } from './bundled-networks.js';
import { SpeedStore, type SpeedTable } from './speed-store.js';

/** The first network is chosen unless another one is predicted to be stronger by more than this: speeds are off by a few per cent. */
export const CLEAR_LEAD_ELO = 10;

export interface Candidate {
  readonly network: BundledNetwork;
  /** Of one thread. */
  readonly evaluationsPerSecond: number;
  /** Predicted strength on this machine, minus that of the first candidate. */
  readonly predictedLeadElo: number;
}

export interface NetworkSelection {
  readonly network: BundledNetwork;
  /** What was compared, in the order of bundled.json; empty if there was no choice, or the speeds are not known. */
  readonly candidates: readonly Candidate[];
  /** Why the speeds of several candidates are not known; null if they are, or are not needed. */
  readonly problem: string | null;
  /** File of the speeds; null if they were not kept. */
  readonly path: string | null;
}

/** Measures networks of the program, in their order. Never rejects. */
export type SpeedMeasure = (networks: readonly BundledNetwork[]) => Promise<Result<NetworkSpeeds>>;

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
    const single = { network, candidates: [], problem: null, path: null };
    const { eloPerSpeedDoubling } = bundle;
    const isComparable = suitable.every(({ eloAtEqualNodes }) => eloAtEqualNodes !== undefined);
    if (suitable.length < 2 || backend !== 'cpu' || eloPerSpeedDoubling === undefined || !isComparable) return single;
    const { speeds, path } = await this.findSpeeds(suitable);
    if (!speeds.ok) return { ...single, problem: speeds.error };
    const candidates = predictStrengths(suitable, speeds.value, eloPerSpeedDoubling);
    return { network: chooseStrongest(candidates).network, candidates, problem: null, path };
  }

  private findSpeeds(networks: readonly BundledNetwork[]): Promise<Measurement> {
    const key = networks.map(({ sha256 }) => sha256).join();
    const known = this.known.get(key) ?? this.readOrMeasure(networks);
    this.known.set(key, known);
    return known;
  }

  private async readOrMeasure(networks: readonly BundledNetwork[]): Promise<Measurement> {
    const stored = await this.store.read(networks.map(({ sha256 }) => sha256));
    if (stored !== null) return { speeds: { ok: true, value: stored.speeds }, path: stored.path };
    const measured = await this.measure(networks);
    if (!measured.ok) return { speeds: measured, path: null };
    const { evaluationsPerSecond, isSteady } = measured.value;
    // Otherwise each start on a busy machine might choose another network.
    if (!isSteady) return { speeds: failure('other programs keep the CPU busy'), path: null };
    const speeds = new Map(networks.map(({ sha256 }, index) => [sha256, evaluationsPerSecond[index]]));
    return { speeds: { ok: true, value: speeds }, path: await this.store.write(speeds) };
  }
}

/** The selector of the program. */
export const networkSelector = new NetworkSelector();

interface Measurement {
  readonly speeds: Result<SpeedTable>;
  readonly path: string | null;
}

function predictStrengths(
  networks: readonly BundledNetwork[],
  speeds: SpeedTable,
  eloPerSpeedDoubling: number,
): Candidate[] {
  const measured = networks.map((network) => ({ network, evaluationsPerSecond: speeds.get(network.sha256) ?? 0 }));
  const strengths = measured.map(
    ({ network, evaluationsPerSecond }) =>
      (network.eloAtEqualNodes ?? 0) + eloPerSpeedDoubling * Math.log2(evaluationsPerSecond),
  );
  return measured.map((row, index) => ({ ...row, predictedLeadElo: strengths[index] - strengths[0] }));
}

function chooseStrongest(candidates: readonly Candidate[]): Candidate {
  const strongest = candidates.reduce((best, next) => (next.predictedLeadElo > best.predictedLeadElo ? next : best));
  return strongest.predictedLeadElo > CLEAR_LEAD_ELO ? strongest : candidates[0];
}

async function measureBundledNetworks(networks: readonly BundledNetwork[]): Promise<Result<NetworkSpeeds>> {
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
  return measureNetworkSpeeds(models);
}
