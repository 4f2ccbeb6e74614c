/**
 * onnxruntime 1.30 for Linux and macOS collects usage data: while it loads it runs programs to name the machine, leaves
 * `mat-debug-<process>.log` and `.ses` in the temporary folder, and sends what it has to Microsoft. Nobody asks that of a
 * chess engine, so it is told not to, before its library is loaded; a user's own setting stands.
 */

const VARIABLE = 'ORT_DISABLE_TELEMETRY';

/** To be called on the main thread: in a worker `process.env` is a copy, which the library does not see. */
export function forbidTelemetry(): void {
  process.env[VARIABLE] ??= '1';
}
