/** The UCI session on the real network and search: loaded after `uci` has been answered. */
import { getProgramCommand } from '#platform/machine.js';
import { createSpareOptions, enginePorts } from '../engine/app/index.js';
import type { Settings } from '../engine/app/options.js';
import type { EnginePorts } from '../engine/core/index.js';
import { formatGreeting, type SessionSettings, UciSession } from '../engine/uci/index.js';
import { isFirstTuningHint, isTunable, resolveNetwork } from '../engine/weights/index.js';
import { writeNote } from './write-output.js';

export function startSession(
  { options, showHidden }: Settings,
  version: string,
  { writeLine, onFault, onEnd }: Pick<SessionSettings, 'writeLine' | 'onFault' | 'onEnd'>,
): UciSession {
  if (process.stdin.isTTY) {
    void resolveNetwork(options).then((network) => {
      writeNote(formatGreeting(version, network.ok ? network.value.path : 'none').trimEnd());
    });
  }
  // Tuning uses the whole machine for a while, so it never starts automatically: a game might be running.
  const createNetwork: EnginePorts['createNetwork'] = async (current, warn, ...rest) => {
    const network = await enginePorts.createNetwork(current, warn, ...rest);
    if (isTunable(current) && !network.isTuned && isFirstTuningHint()) {
      warn(`Threads and batches are not tuned for this network: \`${getProgramCommand()} tune\` does it in 20 s`);
    }
    return network;
  };
  return new UciSession({
    version,
    showHidden,
    options,
    ports: { ...enginePorts, createNetwork, createSpareOptions },
    writeLine,
    bench: async (words, writeBenchLine, signal) => {
      const { runBenchWords } = await import('./commands/bench.js');
      await runBenchWords(options, words, writeBenchLine, signal);
    },
    onFault,
    onEnd,
  });
}
