/** The answer to `uci`: name and options. Floats are `type string` with six decimals, as lc0 prints them. */
import type { OptionSpec } from '../options/index.js';

/** The answer to `uci`, `uciok` included. */
export function formatIdentity(version: string, specs: readonly OptionSpec[], showHidden: boolean): string[] {
  const listed = specs.filter((spec) => showHidden || spec.hidden !== true);
  return [`id name Sardonyx ${version}`, 'id author the Sardonyx authors', ...listed.map(formatOption), 'uciok'];
}

export function formatOption(spec: OptionSpec): string {
  const head = `option name ${spec.uci} type`;
  switch (spec.kind) {
    case 'int':
      return `${head} spin default ${spec.default} min ${spec.min} max ${spec.max}`;
    case 'float':
      return `${head} string default ${spec.default.toFixed(6)}`;
    case 'bool':
      return `${head} check default ${spec.default}`;
    case 'choice':
      return `${head} combo default ${spec.default}${spec.choices.map((choice) => ` var ${choice}`).join('')}`;
    case 'string':
      return `${head} string default ${spec.default}`;
    case 'button':
      return `${head} button`;
  }
}
