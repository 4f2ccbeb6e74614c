/** What pages keep on the server, `kept/ID`: a text whose first line is the entry in the list, each further line a block of games. */

/** An analysis in the list. */
export interface StoredAnalysis {
  readonly id: string;
  readonly name: string;
  readonly changedAtMs: number;
  readonly chapters: number;
  /** The chapter on the board. */
  readonly chapter: number;
  /** Place in its tree: the index of the child, from move to move. */
  readonly path: readonly number[];
  readonly orientation: 'white' | 'black';
  readonly setup?: string | null;
  readonly review?: PendingReview | null;
  /** Of the game on the board. */
  readonly opening?: string;
  /** The file or the game of another room that it was made of, which is opened once; absent = none. */
  readonly source?: string;
  /** Names the last change of its games, `PAGE:NUMBER`. Pages tell by it which state stems from which. */
  readonly edit?: string;
}

/** Games of an analysis that are still to be reviewed. */
export interface PendingReview {
  /** Their numbers; the first is under way. */
  readonly games: readonly number[];
  /** Positions of the first one that are done. */
  readonly at: number;
  /** For each position. */
  readonly nodes: number;
  readonly isPaused: boolean;
}

/** An entry and the number of the state that it belongs to. */
export interface KeptEntry extends StoredAnalysis {
  readonly revision: number;
}

export interface KeptList {
  readonly analyses: readonly KeptEntry[];
  /** Why files of the folder are left out: a sentence each. */
  readonly problems: readonly string[];
}

/** Chapters that are stored as one value: those of a large file are written and read in many short tasks. */
export const BLOCK = 200;
