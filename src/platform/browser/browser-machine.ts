/** What a page can find out about the machine. */

/** Used where the browser has no `deviceMemory`. Where it has, the number is rounded to a power of two, 8 GB at most. */
const UNKNOWN_MEMORY_GB = 4;
/** Share of the machine's memory that a page may use, because the browser and other programs need the rest. */
const SHARE_OF_PAGE = 0.25;

export function getMemoryBytes(): number {
  const { deviceMemory = UNKNOWN_MEMORY_GB } = navigator as { deviceMemory?: number };
  return deviceMemory * SHARE_OF_PAGE * 2 ** 30;
}

export function getCoreCount(): number {
  return Math.max(1, navigator.hardwareConcurrency || 1);
}

export function hasX64Kernels(): boolean {
  return false;
}

export function getSystem(): string {
  return 'browser';
}

export function getProgramCommand(): string {
  return 'sardonyx';
}
