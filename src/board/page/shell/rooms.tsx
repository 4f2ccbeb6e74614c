/** The rooms of the page and the modes of its one board. The address names either, so that the browser's back button works. */
import { batch, signal } from '@preact/signals';
import { engine, port } from '../port/engine-port.js';

const ROOMS = { board: 'Board', games: 'Games', match: 'Match', training: 'Training' } as const;
type Room = keyof typeof ROOMS;
type Mode = (typeof MODES)[number];

const MODES = ['analyse', 'play'] as const;

export const room = signal<Room>('board');
/** What the board is for; it stays while another room is shown. */
export const mode = signal<Mode>('analyse');

function readAddress(): void {
  const name = location.hash.slice(1);
  batch(() => {
    // A link to a position is for the analysis, which reviews have been a mode of their own beside.
    const isAnalysis = name === 'review' || name.startsWith('fen=');
    mode.value = MODES.find((known) => known === name) ?? (isAnalysis ? 'analyse' : mode.value);
    room.value = Object.hasOwn(ROOMS, name) ? (name as Room) : 'board';
  });
}

readAddress();
addEventListener('hashchange', readAddress);

/** What runs, whichever room is shown: address of its place → words. A chip in the header leads there. */
export const activities = signal<Readonly<Record<string, string>>>({});

/** @param words '' = it does not run any more */
export function tellActivity(address: string, words: string): void {
  const { [address]: _, ...others } = activities.peek();
  activities.value = words === '' ? others : { ...others, [address]: words };
}

/** Shows the game that was opened. */
export function showStudy(): void {
  location.hash = 'analyse';
}

/** Whether the engine's side can do what the room is for. */
function isOffered(name: Room): boolean {
  if (name === 'training') return port.hasServer && engine.value?.hasLoop === true;
  return name !== 'match' || port.hasServer;
}

/** @param role of the links, where they stand in a menu */
export function RoomLinks({ role }: { readonly role?: 'menuitem' }) {
  return (
    <>
      {(Object.keys(ROOMS) as Room[]).filter(isOffered).map((name) => (
        <a
          key={name}
          role={role}
          class={role && 'button room-link'}
          href={`#${name === 'board' ? mode.value : name}`}
          aria-current={room.value === name ? 'page' : undefined}
        >
          {ROOMS[name]}
        </a>
      ))}
    </>
  );
}
