/** The outcome of parsing something a user wrote: a value, or one clear sentence saying what is wrong. */
export type Result<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: string };

export function success<T>(value: T): Result<T> {
  return { ok: true, value };
}

/** Longer than any sentence: what is refused may be of any length. */
const LONGEST_SENTENCE = 1000;

export function failure(error: string): Result<never> {
  return { ok: false, error: cutText(error, LONGEST_SENTENCE) };
}

/** What was thrown, as a part of a sentence: an error's message, or the text of anything else. */
export function getErrorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** A refusal as a page shows it: one line of limited length, even if a file name in it holds line ends. */
export function describeRefusal(error: unknown): string {
  return cutText(showControls(getErrorMessage(error).trim().replace(/\n/g, ' ')), LONGEST_SENTENCE);
}

/** For code whose input is known to be good (constants, tests): the value, or a thrown Error with the sentence. */
export function unwrap<T>(result: Result<T>): T {
  if (!result.ok) throw new Error(result.error);
  return result.value;
}

/**
 * Text of files, engines and servers as a terminal may have it: control characters, which could move the cursor, hide text or
 * send commands to the terminal, become `\\u001b` and the like, as in JSON. So do marks of direction, which show text in another
 * order than it has. Line ends and tabs stay.
 */
export function showControls(text: string): string {
  return text.replace(
    /(?![\n\t])[\p{Cc}\p{Bidi_Control}]/gu,
    (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Without control characters; line ends and tabs stay. */
export function removeControls(text: string): string {
  return text.replace(/(?![\n\t])\p{Cc}/gu, '');
}

/** Names that files, engines and users give: in one line, which no reader of lines can take for two. */
export function toOneLine(text: string): string {
  return text.replace(/\p{Cc}+/gu, ' ').trim();
}

/** Refused text as a sentence shows it: as much as a person needs to find it again. */
export function cutText(text: string, most = 60): string {
  return text.length <= most ? text : `${text.slice(0, most)}…`;
}

/** `12.3`: sizes of files and downloads as people read them; a megabyte is a million bytes. */
export function formatMegabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}

/** `1 rank`, `7 ranks` */
export function countOf(count: number, noun: string, nouns = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : nouns}`;
}
