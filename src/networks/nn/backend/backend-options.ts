/**
 * Parses lc0's syntax of backend options: `key=value,key=value,name(key=value,…)`. Values may be quoted. Parentheses enclose a
 * nested dictionary, which inherits the keys of the outer one; each describes one part of a composite backend
 * (backend-plan.ts). An option that the backend never reads is an error, so that a misspelt name is reported.
 */

import { cutText, failure, type Result, success } from '../../../base/util/result.js';

/** Options of lc0's own kernels and exporter. They are accepted and have no effect. */
export const IGNORED_KEYS = [
  ...['graph_capture', 'cache_opt', 'multi_stream', 'res_block_fusing', 'fused_mha', 'custom_winograd'],
  ...['alt_mish', 'alt_layernorm', 'no_shape', 'ir', 'opset', 'batch_size', 'blas_cores'],
  ...['enable-gemm-metacommand', 'enable-conv-metacommand', 'force_tune', 'tune_only', 'plugin_path'],
  ...['record_file', 'replay_file'],
] as const;

/** The names of all options; each backend reads some of them. */
const KEYS = [
  ...['policy_head', 'value_head', 'mlh', 'datatype', 'fp16', 'winograd'],
  ...['devices', 'gpu', 'threads', 'optimize', 'batch', 'max_batch', 'min_batch', 'steps', 'symmetry', 'noise'],
  // CUDA, TensorRT, CoreML and WebGPU.
  ...['tf32', 'units', 'mlprogram', 'static-shapes'],
  ...['preferredLayout', 'validationMode', 'storageBufferCacheMode'],
  // hash, random and trivial.
  ...['seed', 'uniform', 'delay', 'cached', 'input_mode'],
  // Composite backends.
  ...['backend', 'minimum-split-size', 'mode', 'freq', 'atol', 'rtol'],
  // Devices refuse these, each with a sentence that says why (provider-config.ts).
  ...['gpu_mem_limit', 'mem-limit', 'cudnn_conv_algo_search', 'conv-search', 'trt_engine_cache_enable'],
  ...['trt_engine_cache_path', 'engine-cache', 'trt_fp16_enable'],
  ...IGNORED_KEYS,
] as const;

export type BackendOptionKey = (typeof KEYS)[number];

const KNOWN: ReadonlySet<string> = new Set(KEYS);

export class BackendOptions {
  private readonly values = new Map<string, string>();
  private readonly unread = new Set<string>();
  readonly children = new Map<string, BackendOptions>();
  /** A backend has used this nested dictionary, so it is known even if it is empty. */
  isUsed = false;

  constructor(private readonly parent: BackendOptions | null = null) {}

  set(key: string, text: string): void {
    this.values.set(key, text);
    this.unread.add(key);
  }

  /** The text of an option, here or in an outer dictionary, or undefined. Marks the option as known. */
  read(key: BackendOptionKey): string | undefined {
    this.unread.delete(key);
    return this.values.get(key) ?? this.parent?.read(key);
  }

  readInteger(key: BackendOptionKey, fallback: number, min: number, max: number): number {
    const text = this.read(key);
    if (text === undefined) return fallback;
    const number = Number(text);
    if (!Number.isInteger(number) || text === '' || number < min || number > max) {
      throw new BackendOptionError(`Backend option ${key} must be a whole number from ${min} to ${max}, not "${text}"`);
    }
    return number;
  }

  readFlag(key: BackendOptionKey, fallback: boolean): boolean {
    const text = this.read(key);
    if (text === undefined) return fallback;
    if (text === 'true' || text === '1') return true;
    if (text === 'false' || text === '0') return false;
    throw new BackendOptionError(`Backend option ${key} must be true or false, not "${text}"`);
  }

  /** Throws BackendOptionError if an option, here or in a nested dictionary, was never read. */
  refuseUnread(backend: string): void {
    const names = this.listUnread('');
    if (names.length > 0) {
      throw new BackendOptionError(`Backend ${backend} has no option ${quote(names)}`);
    }
  }

  /** Names of options, here or in a nested dictionary, that no backend has. */
  listUnknown(prefix = ''): string[] {
    const names = [...this.values.keys()].filter((key) => !KNOWN.has(key)).map((key) => prefix + key);
    for (const [name, child] of this.children) names.push(...child.listUnknown(`${prefix}${name}.`));
    return names;
  }

  private listUnread(prefix: string): string[] {
    const names = [...this.unread].map((key) => prefix + key);
    for (const [name, child] of this.children) {
      const inner = child.listUnread(`${prefix}${name}.`);
      const isIgnored = inner.length === 0 && child.values.size === 0 && !child.isUsed;
      names.push(...(isIgnored ? [prefix + name] : inner));
    }
    return names;
  }
}

/** Its message is one sentence for the user. */
export class BackendOptionError extends Error {}

function quote(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(', ');
}

/**
 * Checks what can be checked before the backend is known: the syntax, and that some backend has each option. The plan of a
 * backend checks the rest.
 */
export function checkBackendOptions(text: string): Result<BackendOptions> {
  const options = parseBackendOptions(text);
  const unknown = options.ok ? options.value.listUnknown() : [];
  return unknown.length === 0
    ? options
    : failure(`Backend options "${cutText(text)}": no backend has an option ${quote(unknown)}`);
}

/** What `read` makes of the options, or the message of the BackendOptionError that it throws. */
export function readBackendOptions<Value>(text: string, read: (options: BackendOptions) => Value): Result<Value> {
  const options = parseBackendOptions(text);
  if (!options.ok) return options;
  try {
    return success(read(options.value));
  } catch (error) {
    if (error instanceof BackendOptionError) return failure(error.message);
    throw error;
  }
}

/** Composite backends of composite backends; each level is a call of its own. */
const DEEPEST = 20;

export function parseBackendOptions(text: string): Result<BackendOptions> {
  let at = 0;
  const bad = (what: string): Result<never> =>
    failure(`Backend options "${cutText(text)}": ${what} at position ${at + 1}`);
  const skipSpaces = (): void => {
    while (text[at] === ' ') at++;
  };
  const readWord = (): string => {
    const start = at;
    while (at < text.length && !',()= "\''.includes(text[at])) at++;
    return text.slice(start, at);
  };
  /** Reads up to a comma or parenthesis, so `devices=0;1` and paths need no quotes. @returns null if a quote is not closed */
  const readValue = (): string | null => {
    const quote = text[at];
    if (quote !== '"' && quote !== "'") {
      const start = at;
      while (at < text.length && !',()'.includes(text[at])) at++;
      return text.slice(start, at).trim();
    }
    const end = text.indexOf(quote, at + 1);
    if (end < 0) return null;
    const inner = text.slice(at + 1, end);
    at = end + 1;
    return inner;
  };
  const readDictionary = (into: BackendOptions, depth: number): Result<BackendOptions> => {
    for (;;) {
      skipSpaces();
      const key = readWord();
      skipSpaces();
      if (key !== '' && text[at] === '=') {
        at++;
        skipSpaces();
        const found = readValue();
        if (found === null) return bad('a quote is not closed');
        into.set(key, found);
      } else if (text[at] === '(') {
        if (depth === DEEPEST) return bad('too many parentheses');
        at++;
        const child = new BackendOptions(into);
        into.children.set(key === '' ? `[${into.children.size + 1}]` : key, child);
        const inner = readDictionary(child, depth + 1);
        if (!inner.ok) return inner;
        if (text[at] !== ')') return bad('a closing parenthesis is missing');
        at++;
      } else if (KNOWN.has(key)) {
        return bad(`"${key}" needs a value (${key}=…)`);
      } else if (key !== '') {
        // A bare name is an empty dictionary, as in lc0: `check -o blas,eigen,mode=check`.
        into.children.set(key, new BackendOptions(into));
      }
      skipSpaces();
      if (text[at] === ',') at++;
      else if (at === text.length || (depth > 0 && text[at] === ')')) return success(into);
      else return bad(`unexpected "${text[at]}"`);
    }
  };
  return readDictionary(new BackendOptions(), 0);
}
