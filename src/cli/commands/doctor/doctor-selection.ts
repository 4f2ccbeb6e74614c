/** What `sardonyx doctor` says about the choice between several bundled networks for the CPU. */
import { readSettings } from '../../../app/options.js';
import {
  type Candidate,
  CLEAR_LEAD_ELO,
  getNetworkName,
  type NetworkSelection,
  selectBundledNetwork,
} from '../../../networks/index.js';
import { unwrap } from '../../../util/index.js';
import type { Finding } from './doctor-findings.js';

/** Reads the speeds, or measures them if this has not been done. @returns no finding if there is no choice to make */
export async function examineSelection(): Promise<Finding[]> {
  const { options } = unwrap(readSettings([]));
  const selection = await selectBundledNetwork(options, 'cpu');
  const finding = selection === null ? null : describeSelection(selection);
  return finding === null ? [] : [finding];
}

/** @returns null if there was no choice to make */
export function describeSelection(selection: NetworkSelection): Finding | null {
  const { network, candidates, problem, rounds, agreeing, isClear, isSure, path } = selection;
  const what = 'cpu network';
  if (problem !== null) {
    const text = `${network.file}; the speeds of the bundled networks cannot be measured: ${problem}`;
    return { what, isFine: false, text };
  }
  if (candidates.length === 0) return null;
  const speeds = candidates.map(({ network: { file }, nodesPerSecond }) => {
    return `${file} ${Math.round(nodesPerSecond).toLocaleString('en-US')}`;
  });
  const reason = isClear
    ? explainChoice(network.file, candidates)
    : 'the measurements do not agree, so the network that is stronger at equal nodes plays';
  const trust = `${agreeing} of ${rounds} measurements agree, ${isSure ? 'which is enough' : 'so the next start measures again'}`;
  const place = path === null ? 'not saved' : `saved in ${path}`;
  const names = candidates.map((candidate) => `--weights=${getNetworkName(candidate.network)}`);
  return {
    what,
    isFine: true,
    text: `${network.file}, because ${reason}; nodes/s of the fastest search: ${speeds.join(', ')}; ${trust}; ${place}`,
    fix: `${names.join(' or ')} overrules the choice`,
  };
}

/** Compares every other candidate with the chosen one, by predicted strength. */
function explainChoice(chosen: string, candidates: readonly Candidate[]): string {
  const chosenLeadElo = candidates.find(({ network }) => network.file === chosen)?.predictedLeadElo ?? 0;
  const comparisons = candidates
    .filter(({ network }) => network.file !== chosen)
    .map(({ network, predictedLeadElo }) => {
      const lossElo = Math.round(chosenLeadElo - predictedLeadElo);
      if (lossElo > 0) return `${network.file} is predicted to be ${lossElo} Elo weaker`;
      if (lossElo === 0) return `${network.file} is predicted to be as strong`;
      return `${network.file} is predicted to be only ${-lossElo} Elo stronger (up to ${CLEAR_LEAD_ELO} count as a tie, which goes to the network that is stronger at equal nodes)`;
    });
  return comparisons.join(' and ');
}
