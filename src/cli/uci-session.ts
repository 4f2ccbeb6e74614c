/** The UCI session on the real network and search: loaded after `uci` has been answered. */
import { formatGreeting, UciSession } from '../uci/index.js';
import { enginePorts } from './engine-ports.js';
import { resolveNetworkFile } from './network-file.js';
import type { Settings } from './settings.js';

export function startSession(
  { options, showHidden }: Settings,
  version: string,
  writeLine: (line: string) => void,
): UciSession {
  if (process.stdin.isTTY) {
    void resolveNetworkFile(options.getString('WeightsFile')).then((network) => {
      process.stderr.write(formatGreeting(version, network.ok ? network.value : 'none'));
    });
  }
  return new UciSession({
    version,
    showHidden,
    options,
    ports: enginePorts,
    writeLine,
    bench: async (words, writeBenchLine) => {
      const { runBenchWords } = await import('./bench-run.js');
      await runBenchWords(words, writeBenchLine);
    },
    // Threads that still wait for a device must not keep a process that nobody talks to.
    onEnd: () => process.exit(0),
  });
}
