/** The board of the study beside its game: the opening, moves with annotations, the review; loading and setting up. */
import type { DrawShape } from '@lichess-org/chessground/draw';
import type { ComponentChildren } from 'preact';
import { parsePass } from '../../game/board-moves.js';
import type { Drawing } from '../../game/move-tree-text.js';
import { type BoardEvaluation, BoardPanel, PhoneView } from '../board/board-panel.js';
import { ReviewMenu, ReviewSummary } from '../review/review-parts.js';
import { assign, later, ProblemLine } from '../shell/controls.js';
import type { KeyBindings } from '../shell/keyboard.js';
import { addNotice } from '../shell/notices.js';
import { MOVE_KEYS, MoveList } from './move-list.js';
import { chapterIndex, chapters, isEditing, openChapter } from './open-analysis.js';
import { openGamesRoom, readGames } from './open-games.js';
import { nameLine } from './openings.js';
import { players } from './players.js';
import { saveGames } from './share-menu.js';
import { study } from './study.js';

const EditorBoard = later(async () => (await import('./board-editor.js')).EditorBoard);
const EditorForm = later(async () => (await import('./board-editor.js')).EditorForm);

interface StudyPanelProps {
  readonly keys: KeyBindings;
  readonly evaluation: BoardEvaluation | null;
  readonly shapes: readonly DrawShape[];
  readonly squareClasses: ReadonlyMap<string, string>;
  readonly children: ComponentChildren;
}

/** Shows another game of the file. */
export function stepChapter(step: number): void {
  const index = chapterIndex.value + step;
  if (chapters.value[index] !== undefined) openChapter(index);
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

/** Of a position that is set up. */
const NOBODY = { white: { name: '' }, black: { name: '' } };

export function StudyPanel({ keys, children, ...board }: StudyPanelProps) {
  return (
    <BoardPanel
      name="Analyse"
      study={study}
      players={isEditing.value ? NOBODY : players.value}
      keys={{
        previousGame: () => stepChapter(-1),
        nextGame: () => stepChapter(1),
        nextVariation: () => study.goToSibling(),
        pass,
        undo,
        load: openGamesRoom,
        save: () => void saveGames(),
        ...MOVE_KEYS,
        ...keys,
      }}
      typing={{
        mayPass: true,
        onMove: (move) => study.play(move),
        onText: (text, onOpened) => void readGames([new Blob([text])], '', onOpened),
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
        !isEditing.value && (
          <>
            <PhoneView view="lines" label="Lines" />
            <PhoneView view="graph" label="Graph" />
          </>
        )
      }
      game={isEditing.value ? undefined : <GamePart />}
    >
      {isEditing.value && <Remarks />}
      {isEditing.value ? <EditorForm /> : children}
    </BoardPanel>
  );
}

function Remarks() {
  const { value: known } = study.remarks;
  const text = known?.tree === study.tree.value ? known.texts.join('. ') : '';
  return <ProblemLine text={text} onDismiss={assign(study.remarks, null)} />;
}

function GamePart() {
  return (
    <>
      <div class="opening row">
        <span class="cut fill">{nameLine(study.node.value)}</span>
        <ReviewMenu />
      </div>
      <Remarks />
      <MoveList study={study} isEditable />
      <ReviewSummary />
    </>
  );
}
