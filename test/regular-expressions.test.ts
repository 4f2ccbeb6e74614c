/**
 * Text from outside meets regular expressions everywhere, so all of those in src work in linear time: each runs on 100 kB of each
 * of its own characters and of the pieces that it looks for. One that looks back from each place needs many seconds then. CPU time
 * is judged, which does not depend on how busy the machine is.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import ts from 'typescript';
import { Position, parseFen, parseSan, parseUciMove } from '#sardonyx/chess/rules/index.js';

const SIZE = 100_000;
const LONGEST_MS = 100;

function listExpressions(folder: string): Map<string, RegExp> {
  const found = new Map<string, RegExp>();
  for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!/\.tsx?$/.test(path)) continue;
    const source = ts.createSourceFile(path, readFileSync(join(folder, path), 'utf8'), ts.ScriptTarget.Latest);
    const visit = (node: ts.Node): void => {
      if (ts.isRegularExpressionLiteral(node)) {
        const end = node.text.lastIndexOf('/');
        found.set(node.text, new RegExp(node.text.slice(1, end), node.text.slice(end + 1)));
      }
      ts.forEachChild(node, visit);
    };
    visit(source);
  }
  return found;
}

/** Texts that make an expression begin again and again, or go far and then fail. */
function* createTexts(source: string): Generator<string> {
  const plain = source
    .replace(/\\[sS]/g, ' ')
    .replace(/\\d/g, '1')
    .replace(/\\[wpb]/g, 'a')
    .replace(/\\n/g, '\n');
  const pieces = plain.split(/\[\^.*?\]|[\\()|?*+^$]|\{\d.*?\}/).filter((piece) => piece !== '');
  const characters = [...new Set([...plain, ' ', 'a', '1', '\n'])];
  const [start = ''] = pieces;
  for (const piece of new Set([
    ...characters,
    ...pieces,
    ...pieces.map((piece) => `${piece} `),
    `${pieces.join('')}x`,
  ])) {
    const body = piece.repeat(Math.ceil(SIZE / piece.length));
    yield `${body}\x01`;
    yield `${start}${body}\x01`;
  }
}

test('no expression in src needs more than linear time', () => {
  const slow: string[] = [];
  for (const [literal, expression] of listExpressions('src')) {
    const run = (text: string): number => {
      const before = process.cpuUsage();
      if (expression.global) text.replace(expression, '');
      else expression.exec(text);
      return process.cpuUsage(before).user / 1000;
    };
    for (const text of createTexts(expression.source)) {
      if (run(text) <= LONGEST_MS) continue;
      slow.push(`${literal} on ${JSON.stringify(text.slice(0, 20))} …`);
      break;
    }
  }
  assert.deepEqual(slow, []);
});

test('refused text is shown cut', () => {
  const long = 'x'.repeat(100_000);
  const position = new Position();
  for (const result of [
    parseSan(position, long),
    parseUciMove(position, long),
    parseFen(long),
    parseFen(`8/8/8/8/8/8/8/8 ${long}`),
  ]) {
    assert.ok(!result.ok && result.error.length < 1100);
  }
});
