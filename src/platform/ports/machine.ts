/** Facts about the machine: `#platform/machine.js`. */
export interface MachinePort {
  /** Memory that this process may use, in bytes: the machine's, or that of its container. */
  getMemoryBytes(): number;
  /** Logical cores that this process may use, at least 1. */
  getCoreCount(): number;
  /** Processor time that all threads of this process have used, in milliseconds; null if it is not known, or only roughly. */
  getProcessorMs(): number | null;
  /** Whether native code runs here on an x86-64 processor. */
  hasX64Kernels(): boolean;
  /** Node's name of the operating system (linux, darwin, win32, …), or `browser`. */
  getSystem(): string;
}
