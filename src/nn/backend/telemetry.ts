/**
 * onnxruntime 1.30 for Linux and macOS collects usage data: while it loads it reads the machine's id and the command line, keeps a
 * database in `~/.cache/Microsoft`, leaves `mat-debug-<process>.log` and `.ses` in the temporary folder, and has an uploader
 * to Microsoft. Nobody asks that of a chess engine, so it is told not to, before its library is loaded; a user's own
 * setting stands.
 */

const VARIABLE = 'ORT_DISABLE_TELEMETRY';

/** To be called on the main thread: in a worker `process.env` is a copy, which the library does not see. */
export function forbidTelemetry(): void {
  process.env[VARIABLE] ??= '1';
}
