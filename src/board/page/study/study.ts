/**
 * The game that is on the board of the analysis and review panels: a tree of moves and the place in it. Signals say what
 * changed; the tree itself is changed in place.
 */
import { batch, computed, signal } from '@preact/signals';
import { unwrap } from '../../../base/util/index.js';
import { BLACK, type Move } from '../../../chess/rules/index.js';
import { createDests, findDroppedMoves, getMoveSquares } from '../../game/board-moves.js';
import { findLineEnd, getPath, type MoveNode, MoveTree } from '../../game/move-tree.js';
import { type Drawing, readDrawings, writeDrawings } from '../../game/move-tree-text.js';
import { GLYPHS } from '../../game/page-text.js';
import type { PositionText } from '../../protocol/requests.js';
import type { Side } from '../board/chess-board.js';
import { spoken } from '../shell/notices.js';

/** Takes one change of the tree back. */
interface Undo {
  /** What was done, for the button: "Deleted 12 moves". */
  readonly words: string;
  run(): void;
}

const MOST_UNDOS = 200;

export class Study {
  readonly tree = signal<MoveTree>(unwrap(MoveTree.create()));
  readonly node = signal<MoveNode>(this.tree.value.root);
  /** Counts changes of the tree: what lists its moves reads it. */
  readonly version = signal(0);
  readonly orientation = signal<Side>('white');
  /** Promotions that a drop on the board may mean. */
  readonly promotion = signal<readonly Move[] | null>(null);
  /** Changes that can be taken back, the newest last. */
  readonly undos = signal<readonly Undo[]>([]);
  /** The comment that is being typed. */
  private typing: { readonly node: MoveNode; readonly change: Undo } | null = null;
  /** Counts refused drops: the board then shows the position again. */
  readonly refusals = signal(0);

  readonly position = computed(() => this.tree.value.createPosition(this.node.value));
  readonly turn = computed<Side>(() => (this.position.value.sideToMove === BLACK ? 'black' : 'white'));
  readonly isChess960 = computed(() => this.tree.value.isChess960);
  readonly dests = computed(() => {
    void this.refusals.value;
    return createDests(this.position.value, this.isChess960.value);
  });
  readonly drawings = computed(() => {
    void this.version.value;
    return readDrawings(this.node.value);
  });
  readonly lastMove = computed<readonly string[]>(() => {
    const { parent, move } = this.node.value;
    return parent === null ? [] : getMoveSquares(move);
  });

  load(tree: MoveTree, node: MoveNode = tree.root): void {
    batch(() => {
      this.tree.value = tree;
      this.node.value = node;
      this.undos.value = [];
      this.touch();
    });
  }

  /** @param change what is done, after which everybody is told */
  edit(words: string, undo: () => void, change: () => void): Undo {
    const made = { words, run: undo };
    batch(() => {
      this.undos.value = [...this.undos.value, made].slice(-MOST_UNDOS);
      change();
      this.touch();
    });
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

  /** Deletes a move and all that follows it. */
  remove(node: MoveNode): Undo | undefined {
    const { parent } = node;
    if (parent === null) return undefined;
    const index = parent.children.indexOf(node);
    const wasAt = this.node.value;
    return this.edit(
      `${node.san} and what follows deleted`,
      () => {
        parent.children.splice(index, 0, node);
        this.go(wasAt);
      },
      () => {
        this.tree.value.remove(node);
        if (getPath(wasAt).includes(node)) this.go(parent);
      },
    );
  }

  promote(node: MoveNode): void {
    const path = getPath(node).slice(1);
    const orders = path.map(({ parent }) => [parent, [...(parent?.children ?? [])]] as const);
    this.edit(
      `${node.san} moved up`,
      () => {
        // Moves that have come since then stay.
        for (const [parent, children] of orders) {
          const added = parent?.children.filter((child) => !children.includes(child)) ?? [];
          parent?.children.splice(0, Number.POSITIVE_INFINITY, ...children, ...added);
        }
      },
      () => this.tree.value.promote(node),
    );
  }

  /** Sets comment, glyphs or drawings of a move. Letters typed one after the other are one change. */
  annotate(node: MoveNode, change: Partial<Pick<MoveNode, 'comment' | 'nags'>>): void {
    const before = { comment: node.comment, nags: node.nags };
    const isTyping = this.typing?.node === node && this.typing.change === this.undos.value.at(-1);
    const isComment = change.comment !== undefined;
    batch(() => {
      if (!isComment || !isTyping) {
        const undo = (): void => void Object.assign(node, before);
        const made = this.edit(`Annotation of ${node.san || 'the start'} changed`, undo, () => undefined);
        this.typing = isComment ? { node, change: made } : null;
      }
      Object.assign(node, change);
      this.touch();
    });
  }

  /** A move has one of these glyphs at most; what the file says of the position stays. */
  toggleGlyph(node: MoveNode, nag: number): void {
    const others = node.nags.filter((own) => !GLYPHS.some((glyph) => glyph.nag === own));
    this.annotate(node, { nags: node.nags.includes(nag) ? others : [nag, ...others] });
  }

  /** Replaces the arrows and circles on the current move. */
  draw(drawings: readonly Drawing[]): void {
    const node = this.node.value;
    const before = readDrawings(node);
    if (JSON.stringify(before) === JSON.stringify(drawings)) return;
    this.edit(
      'drawing',
      () => writeDrawings(node, before),
      () => writeDrawings(node, drawings),
    );
  }

  /** Tells everybody that the tree has changed. */
  touch(): void {
    this.version.value++;
  }

  go(node: MoveNode): void {
    this.node.value = node;
    spoken.value = node.parent === null ? 'Start' : node.san;
  }

  /** @param move legal at the place in the tree */
  play(move: Move): void {
    const parent = this.node.value;
    batch(() => {
      this.promotion.value = null;
      const count = parent.children.length;
      const node = this.tree.value.add(parent, move);
      this.go(node);
      if (parent.children.length === count) return;
      const undo = (): void => {
        if (getPath(this.node.value).includes(node)) this.go(parent);
        this.tree.value.remove(node);
      };
      this.edit(node.san, undo, () => undefined);
    });
  }

  /** @param play takes the move, unless it is a promotion that has to be chosen first */
  drop(from: string, to: string, play: (move: Move) => void = (move) => this.play(move)): void {
    const moves = findDroppedMoves(this.position.value, from, to, this.isChess960.value);
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
    const [next] = this.node.value.children;
    if (next !== undefined) this.go(next);
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

  describePosition(node: MoveNode = this.node.value): PositionText {
    const { fen, moves } = this.tree.value.findStart(node);
    return { fen, moves: moves.map(({ uci }) => uci) };
  }
}

export const study = new Study();
