/** The machine as far as a page may know it. */

/** Browsers round deviceMemory down to a power of two, at most 8 GB, and some do not tell. */
const UNKNOWN_MEMORY_GB = 4;
/** Of all memory a page may count on a part: its tab shares it with the browser and everything else. */
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
