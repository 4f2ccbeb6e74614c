/** The machine over node:os. Each function asks anew, because the limits of a container can change while it runs. */
import { availableParallelism, totalmem } from 'node:os';

/** The memory limit of the container counts where it is lower than what the machine has. */
export function getMemoryBytes(): number {
  const limit = process.constrainedMemory();
  return limit !== undefined && limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

/** Fewer than the machine has where the process is bound to some of its cores (taskset, a container). */
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
