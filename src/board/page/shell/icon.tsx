/** Icons drawn as paths, because fonts differ in which signs they have. All are 24 by 24 and take the colour of the text. */
const PATHS = {
  start: 'M5 5h3v14H5zM20 5v14L9 12z',
  back: 'M17 5v14L6 12z',
  forward: 'M7 5v14l11-7z',
  end: 'M16 5h3v14h-3zM4 5v14l11-7z',
  flip: 'M7 4l-4 5h3v7h2V9h3zM17 20l4-5h-3V8h-2v7h-3z',
  sun: 'M12 7a5 5 0 1 0 0 10 5 5 0 0 0 0-10zM11 1h2v4h-2zM11 19h2v4h-2zM1 11h4v2H1zM19 11h4v2h-4zM4.2 5.6l1.4-1.4 2.8 2.8L7 8.4zM15.6 17l1.4-1.4 2.8 2.8-1.4 1.4zM4.2 18.4 7 15.6 8.4 17l-2.8 2.8zM15.6 7l2.8-2.8 1.4 1.4L17 8.4z',
  moon: 'M20 14.5A8.5 8.5 0 0 1 9.5 4 8.5 8.5 0 1 0 20 14.5z',
  close: 'M5 6.4 6.4 5 12 10.6 17.6 5 19 6.4 13.4 12l5.6 5.6-1.4 1.4-5.6-5.6L6.4 19 5 17.6 10.6 12z',
  keyboard: 'M3 6h18v12H3zM5 8v2h2V8zm4 0v2h2V8zm4 0v2h2V8zm4 0v2h2V8zM5 12v2h2v-2zm12 0v2h2v-2zm-8 0v2h6v-2z',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" width="18" height="18" aria-hidden="true">
      <path d={PATHS[name]} fill="currentColor" fill-rule="evenodd" />
    </svg>
  );
}
