/** Short messages in a corner, which a screen reader reads out. They go away by themselves, errors later than others. */
import { signal } from '@preact/signals';

interface Notice {
  readonly id: number;
  readonly level: 'warning' | 'error' | 'note';
  readonly text: string;
}

const MOST_NOTICES = 4;
const LIFE_MS = { note: 3000, warning: 8000, error: 12_000 };

const notices = signal<readonly Notice[]>([]);
/** What a screen reader is to say; it is shown to nobody. */
export const spoken = signal('');
let count = 0;

export function addNotice(level: Notice['level'], text: string): void {
  if (notices.value.some((notice) => notice.text === text)) return;
  const id = count++;
  notices.value = [...notices.value, { id, level, text }].slice(-MOST_NOTICES);
  setTimeout(() => dropNotice(id), LIFE_MS[level]);
}

function dropNotice(id: number): void {
  notices.value = notices.value.filter((notice) => notice.id !== id);
}

export function Notices() {
  return (
    <>
      <div class="notices" role="status" aria-live="polite">
        {notices.value.map(({ id, level, text }) => (
          <button
            key={id}
            type="button"
            class={`notice notice-${level}`}
            onClick={() => dropNotice(id)}
            title="Dismiss"
          >
            {text}
          </button>
        ))}
      </div>
      <div class="visually-hidden" aria-live="polite" data-testid="spoken">
        {spoken.value}
      </div>
    </>
  );
}
