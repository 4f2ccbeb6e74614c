/** Short messages in a corner, which a screen reader reads out. They go away by themselves, errors later than others. */
import { signal } from '@preact/signals';

interface Notice {
  readonly id: number;
  readonly level: 'warning' | 'error' | 'note';
  readonly text: string;
  readonly action: NoticeAction | null;
}

interface NoticeAction {
  readonly label: string;
  run(): void;
}

const MOST_NOTICES = 4;
const LIFE_MS = { note: 3000, warning: 8000, error: 12_000 };

const notices = signal<readonly Notice[]>([]);
/** Dialogs that are open: the topmost shows the notices, because everything behind it is out of reach. */
export const openDialogs = signal(0);
/** What a screen reader is to say; it is shown to nobody. */
export const spoken = signal('');
let count = 0;

/** @param action what can be done about it, for as long as the notice is shown */
export function addNotice(level: Notice['level'], text: string, action: NoticeAction | null = null): void {
  if (notices.value.some((notice) => notice.text === text && action === null)) return;
  const id = count++;
  notices.value = [...notices.value, { id, level, text, action }].slice(-MOST_NOTICES);
  setTimeout(() => dropNotice(id), action === null ? LIFE_MS[level] : LIFE_MS.error);
}

function dropNotice(id: number): void {
  notices.value = notices.value.filter((notice) => notice.id !== id);
}

export function NoticeList() {
  return (
    <div class="notices" role="status" aria-live="polite">
      {notices.value.map(({ id, level, text, action }) => (
        <div key={id} class={`notice notice-${level}`}>
          <button type="button" class="notice-text" onClick={() => dropNotice(id)} title="Dismiss">
            {text}
          </button>
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
