/** The engine's options with their help, and its networks. A change holds for every page of this engine. */
import { signal } from '@preact/signals';
import type { NetworkEntry, OptionState } from '../../protocol/replies.js';
import { engine, openNetwork, port, reportError, setOption, transfer, useNetwork } from '../port/engine-port.js';
import {
  Button,
  bindText,
  CheckField,
  Dialog,
  FileButton,
  SearchField,
  Select,
  submit,
  useLateText,
} from '../shell/controls.js';

const filter = signal('');
const showsHidden = signal(false);
const address = signal('');

export function OptionsDialog({ onClose }: { onClose(): void }) {
  const description = engine.value;
  if (description === null) return null;
  const words = filter.value.toLowerCase();
  const options = description.options.filter(
    ({ spec }) =>
      (showsHidden.value || spec.hidden !== true) &&
      spec.uci !== 'WeightsFile' &&
      `${spec.uci} ${spec.help}`.toLowerCase().includes(words),
  );
  return (
    <Dialog title="Engine" isWide onClose={onClose}>
      <label class="field">
        Network
        <select value={description.network ?? ''} onChange={({ currentTarget }) => useNetwork(currentTarget.value)}>
          {description.network === null && <option value="">{description.running ?? 'unknown'}</option>}
          <NetworkChoices entries={description.networks.filter(({ needsDownload }) => needsDownload !== true)} />
          {description.networks.some(({ needsDownload }) => needsDownload) && (
            <optgroup label="To be downloaded">
              <NetworkChoices entries={description.networks.filter(({ needsDownload }) => needsDownload)} />
            </optgroup>
          )}
        </select>
      </label>
      <NetworkOpener />
      <Transfer />
      <KeptNetworks entries={description.networks.filter(({ isKept }) => isKept === true)} />
      <p class="faint">
        {description.name} {description.version}
        {description.running === null ? '' : `, ${description.running}`}
      </p>
      <div class="option-filter row">
        <SearchField label="Find an option" state={filter} />
        <CheckField label="Rare ones too" state={showsHidden} />
      </div>
      {options.length === 0 && <p class="faint">No option fits “{filter.value}”.</p>}
      <ul class="options stack" aria-label="Options">
        {options.map((option) => (
          <OptionRow key={option.spec.uci} option={option} />
        ))}
      </ul>
      {description.options.some(isChanged) && (
        <div class="button-row">
          <Button label="Reset all options" onClick={() => description.options.filter(isChanged).forEach(reset)} />
        </div>
      )}
    </Dialog>
  );
}

function NetworkChoices({ entries }: { readonly entries: readonly NetworkEntry[] }) {
  return (
    <>
      {entries.map(({ name, description }) => (
        <option key={name} value={name}>
          {name} ({description})
        </option>
      ))}
    </>
  );
}

/** Networks that earlier visits opened. */
function KeptNetworks({ entries }: { readonly entries: readonly NetworkEntry[] }) {
  if (entries.length === 0) return null;
  return (
    <ul class="kept-networks" aria-label="Networks kept in this browser">
      {entries.map(({ name, description }) => (
        <li key={name} class="button-row">
          <span>
            {name} <span class="faint">({description})</span>
          </span>
          <Button
            label="Remove"
            aria-label={`Remove ${name}`}
            onClick={() => port.removeNetwork(name).catch(reportError)}
          />
        </li>
      ))}
    </ul>
  );
}

/** A file on its way to the server, or from the net. */
function Transfer() {
  if (transfer.value === null) return null;
  const { text, share } = transfer.value;
  return (
    <div class="button-row" role="status">
      <span>{text}</span>
      <progress class="fill" max={1} {...(share === null ? {} : { value: share })} aria-label={text} />
      {share !== null && <span>{Math.round(100 * share)} %</span>}
    </div>
  );
}

/** A network that is not in the list: a file, or an address that lets other pages read it. */
function NetworkOpener() {
  return (
    <form class="button-row" onSubmit={submit(() => openNetwork(address.value.trim()))}>
      <FileButton label="Open a network file" accept=".onnx,.pb,.gz" onFiles={([file]) => openNetwork(file)} />
      {!port.hasServer && (
        <>
          <input
            type="url"
            required
            placeholder="https://… (.onnx, .pb.gz)"
            aria-label="Address of a network"
            {...bindText(address)}
          />
          <button type="submit">Open</button>
        </>
      )}
    </form>
  );
}

function isChanged({ spec, value, isLocked }: OptionState): boolean {
  return spec.kind !== 'button' && spec.uci !== 'WeightsFile' && !isLocked && value !== spec.default;
}

function reset({ spec }: OptionState): void {
  if (spec.kind !== 'button') void setOption(spec.uci, String(spec.default));
}

function OptionRow({ option }: { readonly option: OptionState }) {
  const { spec, isLocked, value } = option;
  return (
    <li class={isChanged(option) ? 'option option-changed' : 'option'}>
      <div class="option-head row">
        <label class="option-name strong fill" for={`option-${spec.uci}`}>
          {spec.uci}
        </label>
        {isChanged(option) && (
          <Button
            label="Reset"
            class="text-button bare"
            aria-label={`Reset ${spec.uci}`}
            onClick={() => reset(option)}
          />
        )}
        {isLocked ? (
          <output id={`option-${spec.uci}`} class="option-fixed cut faint">
            {String(value ?? '') || 'empty'}
          </output>
        ) : (
          <OptionInput option={option} />
        )}
      </div>
      <p class="option-help faint">
        {spec.help.replace(/\.?$/, '.')}
        {spec.kind !== 'button' && ` Default: ${spec.default === '' ? 'empty' : spec.default}.`}
        {isLocked && ' Set on the command line alone.'}
      </p>
    </li>
  );
}

function OptionInput({ option: { spec, value } }: { readonly option: OptionState }) {
  const id = `option-${spec.uci}`;
  const set = (text: string) => setOption(spec.uci, text);
  const late = useLateText(String(value ?? ''), set);
  switch (spec.kind) {
    case 'button':
      return <Button label="Do it" id={id} onClick={() => set('')} />;
    case 'bool':
      return (
        <input
          id={id}
          type="checkbox"
          checked={value === true}
          onChange={({ currentTarget }) => set(String(currentTarget.checked))}
        />
      );
    case 'choice':
      return (
        <Select
          id={id}
          value={String(value)}
          choices={spec.choices.map((choice) => [choice, choice] as const)}
          onSelect={set}
        />
      );
    default:
      return (
        <input
          id={id}
          {...(spec.kind === 'string'
            ? { type: 'text' }
            : { type: 'number', min: spec.min, max: spec.max, step: spec.kind === 'int' ? 1 : 'any' })}
          {...late}
        />
      );
  }
}
