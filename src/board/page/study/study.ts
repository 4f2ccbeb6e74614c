/**
 * The game that is on the board of the analysis and review panels: a tree of moves and the place in it. Signals say what
 * changed; the tree itself is changed in place.
 */
import { batch, computed, signal } from '@preact/signals';
import { unwrap } from '../../../base/util/index.js';
import { BLACK, formatSan, type Move, NO_MOVE } from '../../../chess/rules/index.js';
import { createDests, findDroppedMoves, getMoveSquares } from '../../game/board-moves.js';
import { MOVE_GLYPHS } from '../../game/glyphs.js';
import {
  findLineEnd,
  getPath,
  listJudgements,
  listUciMoves,
  type MoveNode,
  MoveTree,
  restoreJudgements,
} from '../../game/move-tree.js';
import {
  type Drawing,
  formatTree,
  readDrawings,
  writeCommentBefore,
  writeDrawings,
} from '../../game/move-tree-text.js';
import type { Side } from '../board/chess-board.js';
import { spoken } from '../shell/notices.js';

/** A change that can be taken back. */
export interface Undo {
  /** What was done, for the button: "Deleted 12 moves". */
  readonly words: string;
  /** The game before the change, as PGN: what is left of the change once the game has left the board. */
  readonly before: string;
  /** Takes this change back, and none that came since then. Once the game has left the board: shows the game before the change. */
  run(): void;
}

const MOST_UNDOS = 200;

/** What a change may alter of a node. */
type NodeState = Pick<MoveNode, 'comment' | 'nags' | 'judgement'> & {
  readonly source: Readonly<MoveNode['source']>;
  readonly children: readonly MoveNode[];
};

function readState({ comment, nags, judgement, source, children }: MoveNode): NodeState {
  return { comment, nags, judgement, source: { ...source }, children: [...children] };
}

/** Takes back what a change has altered; what has come since then stays. */
function restore(node: MoveNode, before: NodeState, after: NodeState): void {
  if (before.comment !== after.comment) node.comment = before.comment;
  if (before.nags !== after.nags) node.nags = before.nags;
  if (before.judgement !== after.judgement) node.judgement = before.judgement;
  if (before.source.comment !== after.source.comment) node.source.comment = before.source.comment;
  if (before.source.commentBefore !== after.source.commentBefore)
    node.source.commentBefore = before.source.commentBefore;
  const [old, made, now] = [before.children, after.children, [...node.children]];
  if (old.length === made.length && old.every((child, index) => child === made[index])) return;
  const kept = old.filter((child) => !made.includes(child) || now.includes(child));
  node.children.splice(0, now.length, ...kept, ...now.filter((child) => !made.includes(child) && !old.includes(child)));
}

/** The node, or the last one before it that is in the tree still. */
function findKept(node: MoveNode): MoveNode {
  return getPath(node).find((step) => step.parent?.children.includes(step) === false)?.parent ?? node;
}

export class Study {
  readonly tree = signal<MoveTree>(unwrap(MoveTree.create()));
  readonly node = signal<MoveNode>(this.tree.value.root);
  /** Counts changes of the tree: what lists its moves reads it. */
  readonly version = signal(0);
  readonly orientation = signal<Side>('white');
  /** Promotions that a drop on the board may mean. */
  readonly promotion = signal<readonly Move[] | null>(null);
  /** Changes of this game that can be taken back, the newest last. */
  readonly undos = signal<readonly Undo[]>([]);
  /** The move at a fork that the user has chosen. */
  private readonly chosen = signal<MoveNode | null>(null);
  /** The comment that is being typed. */
  private typing: { readonly node: MoveNode; readonly what: string; readonly change: Undo } | null = null;
  /** What is to be said of a game while it is on the board, until the user dismisses it. */
  readonly remarks = signal<{ readonly tree: MoveTree; readonly texts: readonly string[] } | null>(null);
  /** Counts refused drops: the board then shows the position again. */
  readonly refusals = signal(0);

  /** The game as PGN. */
  readonly text = computed(() => {
    void this.version.value;
    return formatTree(this.tree.value);
  });
  readonly position = computed(() => this.tree.value.createPosition(this.node.value));
  readonly turn = computed<Side>(() => (this.position.value.sideToMove === BLACK ? 'black' : 'white'));
  readonly dests = computed(() => {
    void this.refusals.value;
    return createDests(this.position.value, this.tree.value.isChess960);
  });
  /** Where one step forward leads; undefined at the end of a line. */
  readonly next = computed<MoveNode | undefined>(() => {
    void this.version.value;
    const { children } = this.node.value;
    return children.find((child) => child === this.chosen.value) ?? children[0];
  });
  readonly drawings = computed(() => {
    void this.version.value;
    return readDrawings(this.node.value);
  });
  readonly lastMove = computed<readonly string[]>(() => {
    const { parent, move } = this.node.value;
    return parent === null ? [] : getMoveSquares(move);
  });

  remark(text: string, tree = this.tree.peek()): void {
    const known = this.remarks.peek();
    const texts = known?.tree === tree ? known.texts : [];
    // "Game 1: the same".
    if (!texts.some((other) => text.endsWith(other))) this.remarks.value = { tree, texts: [...texts, text] };
  }

  /** @param undos what was done to the game before it came to the board */
  load(tree: MoveTree, node: MoveNode = tree.root, undos: readonly Undo[] = []): void {
    batch(() => {
      this.tree.value = tree;
      this.node.value = node;
      this.undos.value = undos;
      this.touch();
    });
  }

  /** @param nodes all that the change alters, but for those that it makes */
  edit(words: string, nodes: readonly MoveNode[], change: () => void): Undo {
    const states = nodes.map((node) => [node, readState(node)] as const);
    const [from, before] = [this.node.peek(), this.text.peek()];
    batch(() => {
      change();
      this.touch();
    });
    const after = states.map(([node]) => readState(node));
    const to = this.node.peek();
    const run = (): void => {
      for (const [index, [node, state]] of states.entries()) restore(node, state, after[index]);
      const at = this.node.value;
      if (findKept(at) !== at || (at === to && from !== to)) this.go(findKept(from));
    };
    const made = { words, before, run };
    this.undos.value = [...this.undos.value, made].slice(-MOST_UNDOS);
    return made;
  }

  /** @param change the newest when left out. @returns what was taken back, in words; '' = there was nothing */
  undo(change = this.undos.value.at(-1)): string {
    if (change === undefined || !this.undos.value.includes(change)) return '';
    batch(() => {
      this.undos.value = this.undos.value.filter((other) => other !== change);
      change.run();
      this.touch();
    });
    return change.words;
  }

  /** Shows another state of the game, at the same place as far as it has the moves. */
  goBackTo(tree: MoveTree): void {
    restoreJudgements(tree, listJudgements(this.tree.value));
    let node = tree.root;
    for (const uci of listUciMoves(this.node.value)) {
      const next = node.children.find((child) => child.uci === uci);
      if (next === undefined) break;
      node = next;
    }
    this.tree.value = tree;
    this.node.value = node;
  }

  /** Deletes a move and all that follows it. */
  remove(node: MoveNode): Undo | undefined {
    const { parent } = node;
    if (parent === null) return undefined;
    return this.edit(`${node.san} and what follows deleted`, [parent], () => {
      this.tree.value.remove(node);
      if (getPath(this.node.value).includes(node)) this.go(parent);
    });
  }

  promote(node: MoveNode): void {
    this.edit(`${node.san} moved up`, getPath(node), () => this.tree.value.promote(node));
  }

  /** Sets comments or glyphs of a move. Letters typed one after the other are one change. */
  annotate(node: MoveNode, change: { comment?: string; commentBefore?: string; nags?: number[] }): void {
    const { commentBefore, ...own } = change;
    const apply = (): void => {
      Object.assign(node, own);
      if (commentBefore !== undefined) writeCommentBefore(node, commentBefore);
    };
    const [what] = Object.keys(change);
    const { typing } = this;
    const isTyping = typing?.node === node && typing.what === what && typing.change === this.undos.value.at(-1);
    if (isTyping && what !== 'nags') {
      apply();
      this.touch();
      return;
    }
    const made = this.edit(`Annotation of ${node.san || 'the start'} changed`, [node], apply);
    this.typing = { node, what, change: made };
  }

  /** A move has one of these glyphs at most; what the file says of the position stays. */
  toggleGlyph(node: MoveNode, nag: number): void {
    const others = node.nags.filter((own) => !MOVE_GLYPHS.some((glyph) => glyph.nag === own));
    this.annotate(node, { nags: node.nags.includes(nag) ? others : [nag, ...others] });
  }

  /** Replaces the arrows and circles on the current move. */
  draw(drawings: readonly Drawing[]): void {
    const node = this.node.value;
    if (JSON.stringify(readDrawings(node)) === JSON.stringify(drawings)) return;
    this.edit('drawing', [node], () => writeDrawings(node, drawings));
  }

  /** Tells everybody that the tree has changed. */
  touch(): void {
    this.version.value++;
  }

  go(node: MoveNode): void {
    this.chosen.value = null;
    this.node.value = node;
    spoken.value = node.parent === null ? 'Start' : node.san;
  }

  /** @param move legal at the place in the tree */
  play(move: Move): void {
    const parent = this.node.value;
    batch(() => {
      this.promotion.value = null;
      const known = parent.children.find((child) => child.move === move);
      if (known !== undefined) return this.go(known);
      const position = this.position.value;
      const san = move === NO_MOVE ? '--' : formatSan(position, move);
      this.edit(san, [parent], () => this.go(this.tree.value.append(parent, move, position)));
    });
  }

  /** @param play takes the move, unless it is a promotion that has to be chosen first */
  drop(from: string, to: string, play: (move: Move) => void = (move) => this.play(move)): void {
    const moves = findDroppedMoves(this.position.value, from, to, this.tree.value.isChess960);
    if (moves.length > 1) this.promotion.value = moves;
    else if (moves.length === 1) play(moves[0]);
    else this.refusals.value++;
  }

  cancelPromotion(): void {
    this.promotion.value = null;
    this.refusals.value++;
  }

  flip(): void {
    this.orientation.value = this.orientation.value === 'white' ? 'black' : 'white';
  }

  goBack(): void {
    if (this.node.value.parent !== null) this.go(this.node.value.parent);
  }

  goForward(): void {
    if (this.next.value !== undefined) this.go(this.next.value);
  }

  /** Out of the variation, to where it leaves its line. */
  leave(): void {
    const start = getPath(this.node.value).findLast((node) => node.parent !== null && node.parent.children[0] !== node);
    if (start?.parent) this.go(start.parent);
  }

  /** At a fork the move before or after the chosen one is chosen; elsewhere to the start or the end. */
  chooseOrGo(step: 1 | -1): void {
    const { children } = this.node.value;
    if (this.next.value === undefined || children.length < 2) {
      if (step < 0) this.goToStart();
      else this.goToEnd();
      return;
    }
    const index = (children.indexOf(this.next.value) + step + children.length) % children.length;
    this.chosen.value = children[index];
    spoken.value = `${children[index].san}, move ${index + 1} of ${children.length}`;
  }

  goToStart(): void {
    this.go(this.tree.value.root);
  }

  goToEnd(): void {
    this.go(findLineEnd(this.node.value));
  }

  /** To the variation after the one we are in, where the line forked last. */
  goToSibling(): void {
    for (const node of getPath(this.node.value).toReversed()) {
      const siblings = node.parent?.children ?? [];
      if (siblings.length < 2) continue;
      this.go(siblings[(siblings.indexOf(node) + 1) % siblings.length]);
      return;
    }
  }
}

export const study = new Study();
