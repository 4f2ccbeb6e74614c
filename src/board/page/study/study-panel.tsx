/** What the analysis and review panels share: the board of the study, its game with chapters and annotations, loading, setting up. */
import type { DrawShape } from '@lichess-org/chessground/draw';
import { computed, effect, signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { START_FEN } from '../../../chess/rules/index.js';
import { parsePass } from '../../game/board-moves.js';
import type { ImportedGame } from '../../game/game-list.js';
import { getPath } from '../../game/move-tree.js';
import { type Drawing, readClock } from '../../game/move-tree-text.js';
import { GLYPHS, splitPoints } from '../../game/page-text.js';
import { type BoardEvaluation, BoardPanel, PhoneView, type PlayerNote } from '../board/board-panel.js';
import { assign, Button } from '../shell/controls.js';
import type { KeyBindings } from '../shell/keyboard.js';
import { addNotice } from '../shell/notices.js';
import { showStudy } from '../shell/rooms.js';
import { importFile } from '../shell/user-files.js';
import { EditorBoard, EditorForm, isEditing } from './board-editor.js';
import { chapterIndex, chapters, openChapter, openFile } from './library.js';
import { deleteFrom, MoveList } from './move-list.js';
import { study } from './study.js';

interface StudyPanelProps {
  readonly name: string;
  /** Those of this panel alone. */
  readonly keys: KeyBindings;
  readonly evaluation: BoardEvaluation | null;
  readonly shapes?: readonly DrawShape[];
  readonly squareClasses?: ReadonlyMap<string, string>;
  readonly game: ComponentChildren;
  readonly children: ComponentChildren;
}

/** The dialog that opens games is shown. */
export const isLoading = signal(false);

export const openLoadDialog = assign(isLoading, true);

/** Shows another game of the file. */
export function stepChapter(step: number): void {
  const index = chapterIndex.value + step;
  if (chapters.value[index] !== undefined) openChapter(index);
}

/** The games of a file or text become an analysis. @param name of the file */
export function readGames(file: Blob, name = '', onOpened: () => void = () => undefined): void {
  const games: ImportedGame[] = [];
  let refusal: string | undefined;
  importFile(file, (news) => {
    if (news.type === 'games') {
      games.push(...news.games);
      refusal ??= news.refusals[0];
      return;
    }
    const problem = news.problem ?? refusal ?? (games.length > 0 ? '' : 'There is no game in this text');
    if (problem !== '') addNotice('error', problem);
    if (games.length === 0 || !openFile(games, 0, name)) return;
    showStudy();
    onOpened();
  });
}

export function undo(): void {
  const words = study.undo();
  addNotice('note', words === '' ? 'There is nothing to take back' : `Taken back: ${words}`);
}

/** What would the opponent do? */
function pass(): void {
  const move = parsePass(study.position.value);
  if (move.ok) study.play(move.value);
  else addNotice('warning', move.error);
}

export const players = computed(() => {
  void study.version.value;
  const { headers } = study.tree.value;
  // The clock of whoever moved last is on that move, the other's on the move before.
  const { parent } = study.node.value;
  const clocks = [readClock(study.node.value), parent === null ? '' : readClock(parent)];
  if (study.turn.value === 'white') clocks.reverse();
  const scores = splitPoints(headers.get('Result'));
  const read = (side: 'White' | 'Black', points: string, clock: string): PlayerNote => {
    const [name, elo] = [headers.get(side), headers.get(`${side}Elo`)].map((text) =>
      text === '?' ? '' : (text ?? ''),
    );
    return { name: name || side, remark: elo, points, clock };
  };
  return { white: read('White', scores[0], clocks[0]), black: read('Black', scores[1], clocks[1]) };
});

/** Of a position that is set up. */
const NOBODY = { white: { name: '' }, black: { name: '' } };

export function StudyPanel({ name, keys, game, children, ...board }: StudyPanelProps) {
  return (
    <BoardPanel
      name={name}
      study={study}
      players={isEditing.value ? NOBODY : players.value}
      keys={{
        previousGame: () => stepChapter(-1),
        nextGame: () => stepChapter(1),
        nextVariation: () => study.goToSibling(),
        pass,
        undo,
        load: openLoadDialog,
        ...keys,
      }}
      typing={{
        mayPass: true,
        onMove: (move) => study.play(move),
        onText: (text, onOpened) => readGames(new Blob([text]), '', onOpened),
      }}
      {...board}
      movable={study.turn.value}
      dests={study.dests.value}
      drawn={study.drawings.value as readonly DrawShape[]}
      onDraw={(shapes) =>
        study.draw(
          shapes.map(({ orig, dest, brush }) => ({
            orig,
            brush: (brush ?? 'green') as Drawing['brush'],
            ...(dest === undefined ? {} : { dest }),
          })),
        )
      }
      onDrop={(from, to) => study.drop(from, to)}
      onPlay={(move) => study.play(move)}
      instead={isEditing.value ? <EditorBoard /> : undefined}
      isFixed={isEditing.value}
      phoneTools={
        <>
          <PhoneView view="lines" label="Lines" />
          <PhoneView view="graph" label="Graph" />
        </>
      }
      game={isEditing.value ? undefined : game}
    >
      {isEditing.value ? <EditorForm /> : children}
    </BoardPanel>
  );
}

/*
 * Names of openings: lichess's list (github.com/lichess-org/chess-openings, CC0) in openings.tsv. The last named position on the
 * way to the one on the board counts, so that transpositions are recognised, and positions that were set up. The list is
 * fetched when it is first needed.
 */

/** Position without clocks → name. Null until the list is read. */
const names = signal<ReadonlyMap<string, string> | null>(null);
/** Longest line of the list. */
const MOST_PLIES = 40;

let isAsked = false;

effect(() => {
  if (isAsked || study.node.value.fen === START_FEN) return;
  isAsked = true;
  void readNames();
});

/** "B90 Sicilian Defense: Najdorf Variation"; '' = none. */
const openingName = computed(() => {
  const known = names.value;
  if (known === null) return '';
  const path = getPath(study.node.value).slice(0, MOST_PLIES);
  return path.reduce((name, { fen }) => known.get(getPlace(fen)) ?? name, '');
});

function getPlace(fen: string): string {
  return fen.split(' ').slice(0, 4).join(' ');
}

/** Lines of `PLACE\tNAME`, which the build makes of the list. */
async function readNames(): Promise<void> {
  const response = await fetch(new URL('./openings.tsv', import.meta.url)).catch(() => null);
  if (!response?.ok) return;
  const lines = (await response.text()).trim().split('\n');
  names.value = new Map(lines.map((line) => line.split('\t') as [string, string]));
}

/** The game on the board: which of the file's games it is, its opening, moves, annotations, FEN. */
export function GamePart({ describe }: { readonly describe?: Parameters<typeof MoveList>[0]['describe'] }) {
  return (
    <>
      {openingName.value !== '' && <p class="opening">{openingName.value}</p>}
      <MoveList study={study} isEditable describe={describe} />
      <AnnotationBar />
    </>
  );
}

/** Comment and glyphs of the move on the board, and what can be done with its variation. */
function AnnotationBar() {
  const node = study.node.value;
  void study.version.value;
  const isStart = node.parent === null;
  return (
    <details class="annotation">
      <summary>Comment and glyphs</summary>
      <div class="button-row">
        {GLYPHS.map(({ nag, sign, word }) => (
          <Button
            key={nag}
            label={sign}
            class="glyph"
            title={word}
            aria-label={word}
            aria-pressed={node.nags.includes(nag)}
            disabled={isStart}
            onClick={() => study.toggleGlyph(node, nag)}
          />
        ))}
        <span class="spacer" />
        <Button label="Null move" title="Pass the turn (-)" onClick={pass} />
        <Button label="Promote" disabled={isStart} onClick={() => study.promote(node)} />
        <Button label="Delete from here" disabled={isStart} onClick={() => deleteFrom(study, node)} />
      </div>
      <textarea
        rows={2}
        aria-label="Comment"
        placeholder="Comment on this move"
        value={node.comment}
        onInput={({ currentTarget }) => study.annotate(node, { comment: currentTarget.value })}
      />
    </details>
  );
}
