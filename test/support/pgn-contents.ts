import type { PgnNode, PgnTree } from '#sardonyx/chess/pgn/index.js';

/** Everything in a tree, each move with its place; a place has one comment. */
export function listContents({ headers, comments = [], moves }: PgnTree): unknown[] {
  const join = (texts: readonly string[] = []): string => texts.join(' ').replace(/\s+/g, ' ').trim();
  const list: unknown[] = [[...headers], join(comments)];
  const stack: [string, PgnNode][] = [['', moves]];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    for (const [index, child] of next[1].children.entries()) {
      const { san, startingComments, startingNags = [], comments: own, nags = [] } = child.data;
      list.push([`${next[0]}/${index}`, san, join(startingComments), startingNags, join(own), nags]);
      stack.push([`${next[0]}/${index}`, child]);
    }
  }
  return list;
}
