/** The machine over node:os. Each function asks anew, because the limits of a container can change while it runs. */
import { availableParallelism, totalmem } from 'node:os';

/** The memory limit of the container, where it is lower than the memory of the machine. */
export function getMemoryBytes(): number {
  const limit = process.constrainedMemory();
  return limit !== undefined && limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

/** Counts only the cores that this process may use (taskset, a container). */
export function getCoreCount(): number {
  return availableParallelism();
}

export function hasX64Kernels(): boolean {
  return process.arch === 'x64';
}

/** linux, darwin, win32, … */
export function getSystem(): string {
  return process.platform;
}
