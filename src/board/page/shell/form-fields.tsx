/** Fields of forms whose values are signals: choices side by side, numbers within bounds, and checkboxes. */
interface FieldProps<T> {
  readonly label: string;
  readonly state: { value: T };
}

interface SegmentsProps<T extends string | number> {
  readonly legend: string;
  readonly name: string;
  readonly state: { value: T };
  readonly choices: readonly (readonly [value: T, label: string])[];
}

/** One of a few choices. */
export function Segments<T extends string | number>({ legend, name, state, choices }: SegmentsProps<T>) {
  return (
    <fieldset class="segments">
      <legend>{legend}</legend>
      {choices.map(([value, label]) => (
        <label key={value}>
          <input
            type="radio"
            name={name}
            checked={state.value === value}
            onChange={() => {
              state.value = value;
            }}
          />
          <span>{label}</span>
        </label>
      ))}
    </fieldset>
  );
}

/** A number that leaves the bounds becomes the nearest one within them; an empty field becomes the least. */
export function NumberField({
  label,
  state,
  min,
  max = Number.POSITIVE_INFINITY,
}: FieldProps<number> & { readonly min: number; readonly max?: number }) {
  return (
    <label class="field">
      {label}
      <input
        type="number"
        min={min}
        {...(Number.isFinite(max) ? { max } : {})}
        step="any"
        required
        value={state.value}
        onChange={({ currentTarget }) => {
          const value = currentTarget.value === '' ? min : Number(currentTarget.value);
          state.value = Math.min(max, Math.max(min, Number.isFinite(value) ? value : min));
          currentTarget.value = String(state.value);
        }}
      />
    </label>
  );
}

export function CheckField({ label, state }: FieldProps<boolean>) {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={state.value}
        onChange={({ currentTarget }) => {
          state.value = currentTarget.checked;
        }}
      />
      {label}
    </label>
  );
}
