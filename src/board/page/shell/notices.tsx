/**
 * Short messages in a corner, which a screen reader reads out; each goes away by itself, errors later than others. Beside them a mark that
 * stays: work that would be lost with the page.
 */
import { effect, signal } from '@preact/signals';

interface Notice {
  readonly id: number;
  readonly level: 'warning' | 'error' | 'note';
  readonly text: string;
  readonly action: NoticeAction | null;
  /** A text to be copied by hand: the notice stays until it is dismissed. */
  readonly copy: string | null;
}

interface NoticeAction {
  readonly label: string;
  run(): void;
}

const MOST_NOTICES = 4;
const LIFE_MS = { note: 3000, warning: 8000, error: 12_000 };

const notices = signal<readonly Notice[]>([]);
/** What cannot be read or kept: files that were opened, analyses, the folder of the server. The room of games shows it. */
export const refusals = signal<readonly string[]>([]);
/** Why this page is to be loaded again; '' = it is not. */
export const outdated = signal('');
/** Dialogs that are open: the topmost shows the notices, because everything behind it is out of reach. */
export const openDialogs = signal(0);
/** What a screen reader is to say; it is shown to nobody. */
export const spoken = signal('');
let count = 0;

/** @param action what can be done about it, for as long as the notice is shown */
export function addNotice(
  level: Notice['level'],
  text: string,
  action: NoticeAction | null = null,
  copy: string | null = null,
): void {
  if (notices.value.some((notice) => notice.text === text && action === null && notice.copy === copy)) return;
  const id = count++;
  notices.value = [...notices.value, { id, level, text, action, copy }].slice(-MOST_NOTICES);
  if (copy === null) setTimeout(() => dropNotice(id), action === null ? LIFE_MS[level] : LIFE_MS.error);
}

function dropNotice(id: number): void {
  notices.value = notices.value.filter((notice) => notice.id !== id);
}

/** When it comes. */
function select(field: HTMLTextAreaElement | null): void {
  field?.focus();
  field?.select();
}

export function NoticeList() {
  return (
    <div class="notices" role="status" aria-live="polite">
      {notices.value.map(({ id, level, text, action, copy }) => (
        <div key={id} class={`notice row float notice-${level}`}>
          <button type="button" class="notice-text bare" onClick={() => dropNotice(id)} title="Dismiss">
            {text}
          </button>
          {copy !== null && <textarea readOnly rows={2} aria-label="Text to copy" ref={select} value={copy} />}
          {action !== null && (
            <button
              type="button"
              onClick={() => {
                dropNotice(id);
                action.run();
              }}
            >
              {action.label}
            </button>
          )}
        </div>
      ))}
    </div>
  );
}

/** Of the page itself. */
export function Notices() {
  return (
    <>
      {openDialogs.value === 0 && <NoticeList />}
      <div class="visually-hidden" aria-live="polite" data-testid="spoken">
        {spoken.value}
      </div>
    </>
  );
}

interface Unsaved {
  readonly words: string;
  readonly reason: string;
}

/** By the id of the analysis, or another name. */
export const unsaved = signal<ReadonlyMap<string, Unsaved>>(new Map());
export const ONLY_HERE = 'not saved';

/** @param reason why it lasts only as long as this page; left out: it is saved. @param words other than these lose nothing with the page */
export function markUnsaved(id: string, reason = '', words = ONLY_HERE): void {
  if (reason === '' && !unsaved.value.has(id)) return;
  const marks = new Map(unsaved.value);
  marks.delete(id);
  if (reason !== '') marks.set(id, { words, reason });
  unsaved.value = marks;
}

function ask(event: BeforeUnloadEvent): void {
  event.preventDefault();
}

// A page that listens all the time is left out of the browser's memory of pages.
effect(() => {
  const isLost = [...unsaved.value.values()].some(({ words }) => words === ONLY_HERE);
  if (isLost) addEventListener('beforeunload', ask);
  else removeEventListener('beforeunload', ask);
});
