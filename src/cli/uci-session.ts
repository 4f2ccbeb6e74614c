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
    // A thread in native code must not keep a process that nobody talks to, and aborts it when it is ended by force.
    onEnd: (isStuck) => (isStuck ? process.kill(process.pid, 'SIGKILL') : process.exit(0)),
  });
}
