/**
 * The game that is on the board of the analysis and review panels: a tree of moves and the place in it. Signals say what
 * changed; the tree itself is changed in place.
 */
import { batch, computed, signal } from '@preact/signals';
import { BLACK, formatSan, type Move } from '../../../chess/index.js';
import { unwrap } from '../../../util/index.js';
import { createDests, findDroppedMoves, getMoveSquares } from '../../game/board-moves.js';
import { findLineEnd, getPath, type MoveNode, MoveTree } from '../../game/move-tree.js';
import type { PositionText } from '../../protocol/requests.js';
import type { Side } from '../board/chess-board.js';
import { spoken } from '../shell/notices.js';
import { isBoolean, storedSignal } from '../shell/stored.js';

export class Study {
  readonly tree = signal<MoveTree>(unwrap(MoveTree.create()));
  readonly node = signal<MoveNode>(this.tree.value.root);
  /** Counts changes of the tree: what lists its moves reads it. */
  readonly version = signal(0);
  readonly orientation = signal<Side>('white');
  /** Promotions that a drop on the board may mean. */
  readonly promotion = signal<readonly Move[] | null>(null);
  /** Counts refused drops: the board then shows the position again. */
  readonly refusals = signal(0);

  readonly position = computed(() => this.tree.value.createPosition(this.node.value));
  readonly turn = computed<Side>(() => (this.position.value.sideToMove === BLACK ? 'black' : 'white'));
  readonly isChess960 = computed(() => this.tree.value.isChess960);
  readonly dests = computed(() => {
    void this.refusals.value;
    return createDests(this.position.value, this.isChess960.value);
  });
  readonly lastMove = computed<readonly string[]>(() => {
    const { parent, move } = this.node.value;
    return parent === null ? [] : getMoveSquares(move);
  });

  load(tree: MoveTree, node: MoveNode = tree.root): void {
    batch(() => {
      this.tree.value = tree;
      this.node.value = node;
      this.touch();
    });
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
    batch(() => {
      this.promotion.value = null;
      this.go(this.tree.value.add(this.node.value, move));
      this.touch();
    });
  }

  playDrop(from: string, to: string): void {
    const moves = findDroppedMoves(this.position.value, from, to, this.isChess960.value);
    if (moves.length > 1) this.promotion.value = moves;
    else if (moves.length === 1) this.play(moves[0]);
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

  /** To the variation before or after the one we are in, where the line forked last. */
  goToSibling(step: -1 | 1): void {
    for (const node of getPath(this.node.value).toReversed()) {
      const siblings = node.parent?.children ?? [];
      if (siblings.length < 2) continue;
      this.go(siblings[(siblings.indexOf(node) + step + siblings.length) % siblings.length]);
      return;
    }
  }

  describePosition(node: MoveNode = this.node.value): PositionText {
    const { fen, moves } = this.tree.value.findStart(node);
    return { fen, moves: moves.map(({ uci }) => uci) };
  }

  formatSan(move: Move): string {
    return formatSan(this.position.value, move);
  }
}

export const study = new Study();
export const showsArrows = storedSignal('arrows', true, isBoolean);
