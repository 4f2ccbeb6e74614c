/**
 * The UCI conversation on stdin and stdout. `uci` is answered from the option lists alone. The engine is loaded after
 * that, and gets the lines that arrived in the meantime.
 */

import { getLogPath } from '#platform/log-file.js';
import { LineReader } from '../base/util/line-reader.js';
import { CrashReporter, readVersion, type Settings } from '../engine/app/options.js';
import { formatIdentity } from '../engine/uci/options.js';
import { createStdoutWriter, describeError, endProcess, findWriteObstacle, writeNote } from './write-output.js';

/** The part of a session that handles the lines of stdin. */
interface Conversation {
  receive(line: string): void;
  endOfInput(): void;
  end(): void;
}

/** Exit status (EX_SOFTWARE of sysexits.h). */
const INTERNAL_ERROR = 70;

export function runUciMode(settings: Settings): void {
  const { options, showHidden, found, faults } = settings;
  for (const path of found) writeNote(`Found configuration file: ${path}`);
  for (const fault of faults) writeNote(`${fault}`);
  warnOfLogFile(options.getString('LogFile'));
  const version = readVersion();
  const crashes = new CrashReporter();
  const doorkeeper = new Doorkeeper(() => {
    for (const line of formatIdentity(version, options.announce(), showHidden)) writeToStdout(line);
  });
  const writeLine = (line: string): void => {
    crashes.note(`<< ${line}`);
    writeToStdout(line);
  };
  let conversation: Conversation = doorkeeper;
  const writeToStdout = createStdoutWriter(() => conversation.end());
  const reader = new LineReader((line) => {
    crashes.note(`>> ${line}`);
    conversation.receive(line);
  });
  process.stdin.on('data', (chunk: Buffer) => reader.push(chunk));
  process.stdin.on('end', () => {
    reader.end();
    conversation.endOfInput();
  });
  process.stdin.on('error', () => conversation.end());
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => conversation.end());
  // The engine keeps running. The GUI gets one sentence, a file the details.
  const onFault = (error: unknown): void => {
    const path = crashes.write(error);
    writeLine(`info string Internal error: ${describeError(error)}${path === null ? '' : ` (report in ${path})`}`);
  };
  process.on('uncaughtException', onFault);

  // Yield to the event loop first, so that lines already sent by the GUI are answered before modules are loaded.
  setImmediate(async () => {
    try {
      const { startSession } = await import('./uci-session.js');
      conversation = startSession(settings, version, { writeLine, onFault, onEnd: () => endProcess() });
    } catch (error) {
      // Without the engine nothing can be answered; a client that waits would wait for ever.
      onFault(error);
      process.exit(INTERNAL_ERROR);
    }
    doorkeeper.handOver(conversation);
  });
}

/** Warns people who start the engine in a terminal; the session warns the GUI. */
function warnOfLogFile(target: string): void {
  const path = getLogPath(target);
  const reason = path === null ? null : findWriteObstacle(path);
  if (reason !== null) writeNote(`LogFile ${path} cannot be written: ${reason}`);
}

/** Answers `uci` and `quit` if they come first, and keeps all other lines for the session. */
class Doorkeeper implements Conversation {
  private readonly lines: string[] = [];
  private hasEnded = false;

  constructor(private readonly identify: () => void) {}

  receive(line: string): void {
    const word = this.lines.length === 0 ? line.trim() : '';
    if (word === 'uci') this.identify();
    else if (word === 'quit') this.end();
    else this.lines.push(line);
  }

  endOfInput(): void {
    this.hasEnded = true;
  }

  end(): void {
    endProcess();
  }

  handOver(next: Conversation): void {
    for (const line of this.lines) next.receive(line);
    if (this.hasEnded) next.endOfInput();
  }
}
