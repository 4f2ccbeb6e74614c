/** The UCI session on the real network and search: loaded after `uci` has been answered. */
import { createSpareOptions, enginePorts } from '../engine/app/index.js';
import type { Settings } from '../engine/app/options.js';
import { formatGreeting, type SessionSettings, UciSession } from '../engine/uci/index.js';
import { resolveNetwork } from '../engine/weights/index.js';
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
  return new UciSession({
    version,
    showHidden,
    options,
    ports: { ...enginePorts, createSpareOptions },
    writeLine,
    bench: async (words, writeBenchLine, signal) => {
      const { runBenchWords } = await import('./commands/bench.js');
      await runBenchWords(options, words, writeBenchLine, signal);
    },
    onFault,
    onEnd,
  });
}
