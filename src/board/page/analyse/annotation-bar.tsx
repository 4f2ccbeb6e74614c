/** Comment and glyphs of the move on the board, and what can be done with its variation. */
import { GLYPHS } from '../../game/value-text.js';
import { study } from '../study/study.js';

export function AnnotationBar() {
  const node = study.node.value;
  void study.version.value;
  const toggleGlyph = (nag: number): void => {
    const others = node.nags.filter((own) => !GLYPHS.some((glyph) => glyph.nag === own));
    node.nags = node.nags.includes(nag) ? others : [...others, nag];
    study.touch();
  };
  return (
    <details class="annotation">
      <summary>Comment and glyphs</summary>
      <div class="button-row">
        {GLYPHS.map(({ nag, sign, word }) => (
          <button
            key={nag}
            type="button"
            class="glyph"
            title={word}
            aria-label={word}
            aria-pressed={node.nags.includes(nag)}
            disabled={node.parent === null}
            onClick={() => toggleGlyph(nag)}
          >
            {sign}
          </button>
        ))}
        <span class="spacer" />
        <button
          type="button"
          disabled={node.parent === null}
          onClick={() => {
            study.tree.value.promote(node);
            study.touch();
          }}
        >
          Promote
        </button>
        <button
          type="button"
          disabled={node.parent === null}
          onClick={() => {
            study.go(study.tree.value.remove(node));
            study.touch();
          }}
        >
          Delete from here
        </button>
      </div>
      <textarea
        rows={2}
        aria-label="Comment"
        placeholder="Comment on this move"
        value={node.comment}
        onInput={({ currentTarget }) => {
          node.comment = currentTarget.value;
          study.touch();
        }}
      />
    </details>
  );
}
