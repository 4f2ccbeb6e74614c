/**
 * The values of all options of all rooms, by lc0's names, case-insensitive. A value is checked before it is stored; a value
 * that is refused changes nothing.
 *
 * An option may have several names. GUIs send back every option that was announced, so the default that arrives under one name
 * must not undo a value that was set under another.
 *
 * A change takes effect in one way: the store calls the handlers that are connected for the option's effect. No other code
 * compares values to notice a change.
 */
import { failure, type Result, success } from '../util/result.js';
import {
  listOtherNames,
  type OptionEffect,
  type OptionSpec,
  type OptionValue,
  parseOptionValue,
} from './option-spec.js';

/** Functions to call when an option with the given effect changes, or a button with it is pressed. */
export type OptionHandlers = { readonly [Effect in OptionEffect]?: () => void } & {
  /** Called with one sentence for the user when a value outside the range was replaced. */
  readonly note?: (sentence: string) => void;
};

export class OptionStore {
  private readonly specs = new Map<string, OptionSpec>();
  /** The option that another name stands for. */
  private readonly targets = new Map<string, OptionSpec>();
  private readonly current = new Map<string, OptionValue>();
  /** By proper name: the name under which the value was set last. */
  private readonly givenAs = new Map<string, string>();
  /** The values that `announce` has given out as defaults. */
  private readonly announced = new Map<string, OptionValue>();
  private readonly connected = new Set<OptionHandlers>();

  constructor(specs: readonly OptionSpec[]) {
    for (const spec of specs) {
      this.add(spec);
      if (spec.kind !== 'button') this.current.set(spec.uci, spec.default);
    }
    for (const target of specs) {
      for (const spec of listOtherNames(target)) {
        this.add(spec);
        this.targets.set(spec.uci, target);
      }
    }
  }

  /** In order of declaration; other names last. */
  get declared(): readonly OptionSpec[] {
    return [...this.specs.values()];
  }

  /** By UCI name; buttons and other names have no value. */
  get values(): ReadonlyMap<string, OptionValue> {
    return this.current;
  }

  find(name: string): OptionSpec | undefined {
    return this.specs.get(name.toLowerCase());
  }

  /** The declarations with the current values as defaults: a client that sends them back changes nothing. */
  announce(): readonly OptionSpec[] {
    return this.declared.map((spec) => {
      const value = this.current.get(this.getTarget(spec).uci);
      if (spec.kind === 'button' || value === undefined) return spec;
      this.announced.set(spec.uci, value);
      return withDefault(spec, value);
    });
  }

  /** Calls a handler after each change of an option with its effect. @returns a function that disconnects the handlers */
  connect(handlers: OptionHandlers): () => void {
    this.connected.add(handlers);
    return () => this.connected.delete(handlers);
  }

  /**
   * Sets an option, or presses a button. Setting the current value again calls no handler.
   * @returns the option that was set, by its proper name
   */
  set(name: string, text: string): Result<OptionSpec> {
    const named = this.find(name);
    if (named === undefined) return failure(`Unknown option: ${name}`);
    const parsed = parseOptionValue(named, text);
    if (!parsed.ok) return parsed;
    const spec = this.getTarget(named);
    const isDefault = named.kind !== 'button' && parsed.value === (this.announced.get(named.uci) ?? named.default);
    const giver = this.givenAs.get(spec.uci);
    if (isDefault && giver !== undefined && giver !== named.uci) return success(spec);
    const checked = spec.check?.(parsed.value, this.current);
    if (checked?.ok === false) return checked;
    if (spec.kind === 'int' && spec.clamps && Number(text) !== parsed.value) {
      const sentence = `Option ${spec.uci} goes from ${spec.min} to ${spec.max}: ${text.trim()} counts as ${parsed.value}`;
      for (const { note } of this.connected) note?.(sentence);
    }
    if (spec.kind !== 'button') {
      if (!isDefault || this.current.get(spec.uci) !== parsed.value) this.givenAs.set(spec.uci, named.uci);
      if (this.current.get(spec.uci) === parsed.value) return success(spec);
      this.current.set(spec.uci, parsed.value);
    }
    for (const handlers of this.connected) handlers[spec.effect ?? 'search']?.();
    return success(spec);
  }

  /** The values of all options with these effects, as text to compare two stores of the same options. */
  describe(...effects: readonly OptionEffect[]): string {
    const chosen = this.declared.filter(({ effect = 'search' }) => effects.includes(effect));
    return JSON.stringify(chosen.map(({ uci }) => this.current.get(uci)));
  }

  /** Returns a store with the same options and current values, without handlers. */
  clone(): OptionStore {
    const copy = new OptionStore(this.declared.filter(({ uci }) => !this.targets.has(uci)));
    for (const [name, value] of this.current) copy.current.set(name, value);
    for (const [name, giver] of this.givenAs) copy.givenAs.set(name, giver);
    return copy;
  }

  getNumber(name: string): number {
    return this.get(name, 'number') as number;
  }

  getBoolean(name: string): boolean {
    return this.get(name, 'boolean') as boolean;
  }

  getString(name: string): string {
    return this.get(name, 'string') as string;
  }

  private get(name: string, type: string): OptionValue {
    const value = this.current.get(name);
    if (typeof value !== type) throw new Error(`Option ${name} is not a declared ${type}`);
    return value as OptionValue;
  }

  private getTarget(spec: OptionSpec): OptionSpec {
    return this.targets.get(spec.uci) ?? spec;
  }

  private add(spec: OptionSpec): void {
    const key = spec.uci.toLowerCase();
    if (this.specs.has(key)) throw new Error(`Option ${spec.uci} is declared twice`);
    this.specs.set(key, spec);
  }
}

/** @param value of the kind of `spec` */
function withDefault(spec: OptionSpec, value: OptionValue): OptionSpec {
  if (spec.kind !== 'choice') return { ...spec, default: value } as OptionSpec;
  const choice = String(value);
  const choices = spec.choices.includes(choice) ? spec.choices : [...spec.choices, choice];
  return { ...spec, default: choice, choices };
}
