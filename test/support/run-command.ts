/**
 * A command of the program in the process of its test: the same arguments, output and exit status as a process of its own, without
 * a start of Node and of the engine for each check. Output is caught where the program hands it to the system, so the program has
 * no switch for it. One command at a time. What is about the process itself (signals, pipes, crashes, UCI) still starts one.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { mock } from 'node:test';
import { runProgram } from '#sardonyx/cli/program.js';

export interface CommandResult {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CommandSurroundings {
  readonly cwd?: string;
  /** Added to the environment; undefined removes a variable. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** stderr is a terminal so wide. */
  readonly columns?: number;
  /** As Ctrl-C, once the command has printed this. */
  readonly interruptAt?: RegExp;
}

const STDOUT = 1;
/** Commands listen for these; their listeners must not pile up. */
const EVENTS = ['uncaughtException', 'SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Said on machines that are busy with other things. */
const LOADING = /^Still loading the network after \d+ s\n/gm;

export async function runCommand(
  args: readonly string[],
  { cwd, env = {}, columns, interruptAt }: CommandSurroundings = {},
): Promise<CommandResult> {
  const output = { stdout: '', stderr: '' };
  /** The status that the command ended the process with; the program takes it for an error of its own, which nobody sees. */
  let exitStatus: number | undefined;
  let isInterrupted = false;
  const write = (stream: 'stdout' | 'stderr', text: string): void => {
    if (exitStatus === undefined) output[stream] += text;
    if (isInterrupted || interruptAt === undefined || !interruptAt.test(output.stdout + output.stderr)) return;
    isInterrupted = true;
    setImmediate(() => process.emit('SIGINT'));
  };
  const { writeSync } = fs;
  const mocks = [
    mock.method(fs, 'writeSync', ((file: number, data: Uint8Array | string, ...rest: [number?]) => {
      if (file !== STDOUT) return writeSync(file, data as Uint8Array, ...rest);
      const written = typeof data === 'string' ? Buffer.from(data) : data.subarray(rest[0] ?? 0);
      write('stdout', Buffer.from(written).toString());
      return written.length;
    }) as typeof fs.writeSync),
    mock.method(process.stderr, 'write', (text: Uint8Array | string) => {
      write('stderr', text.toString());
      return true;
    }),
    // The help of yargs.
    mock.method(console, 'log', (text: string) => write('stdout', `${text}\n`)),
    mock.method(process, 'exit', (status?: number) => {
      exitStatus ??= Number(status ?? process.exitCode ?? 0);
      throw new Error('The command ended the process');
    }),
  ];
  syncBuiltinESMExports();
  const listeners = EVENTS.map((event) => process.listeners(event as 'SIGINT'));
  const [folder, environment, outerStatus] = [process.cwd(), { ...process.env }, process.exitCode];
  if (cwd !== undefined) process.chdir(cwd);
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
  process.exitCode = 0;
  const { isTTY } = process.stderr;
  if (columns !== undefined) Object.assign(process.stderr, { isTTY: true, columns });
  try {
    await runProgram(args);
    return { status: exitStatus ?? Number(process.exitCode), ...output, stderr: output.stderr.replace(LOADING, '') };
  } finally {
    if (columns !== undefined) Object.assign(process.stderr, { isTTY, columns: undefined });
    process.exitCode = outerStatus;
    process.env = environment;
    process.chdir(folder);
    for (const [index, event] of EVENTS.entries()) {
      for (const listener of process.listeners(event as 'SIGINT')) {
        if (!listeners[index].includes(listener)) process.off(event, listener);
      }
    }
    for (const { mock } of mocks) mock.restore();
    syncBuiltinESMExports();
  }
}
