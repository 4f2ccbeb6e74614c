/** The UCI conversation on the process's own pipes: stdin to the session, its lines to stdout, signals to its end. */
import { createStdoutWriter, formatGreeting, LineReader, UciSession } from '../uci/index.js';
import { enginePorts } from './engine-ports.js';
import { resolveNetworkFile } from './network-file.js';
import { readVersion } from './package-info.js';
import type { Settings } from './settings.js';

export function runUciMode({ options, showHidden }: Settings): void {
  const version = readVersion();
  const writer = createStdoutWriter(() => session.end());
  const session = new UciSession({
    version,
    showHidden,
    options,
    ports: enginePorts,
    writeLine: (line) => writer.writeLine(line),
    bench: async (words, writeLine) => {
      const { runBenchWords } = await import('./bench-run.js');
      await runBenchWords(words, writeLine);
    },
    // Threads that still wait for a device must not keep a process that nobody talks to.
    onEnd: () => process.exit(0),
  });
  const reader = new LineReader((line) => session.receive(line));
  process.stdin.on('data', (chunk: Buffer) => reader.push(chunk));
  process.stdin.on('end', () => {
    reader.end();
    session.endOfInput();
  });
  process.stdin.on('error', () => session.end());
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => session.end());
  process.on('uncaughtException', (error) => writer.writeLine(`info string Internal error: ${error.message}`));
  if (process.stdin.isTTY) {
    const network = resolveNetworkFile(options.getString('WeightsFile'));
    process.stderr.write(formatGreeting(version, network.ok ? network.value : 'none'));
  }
}
