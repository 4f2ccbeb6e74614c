// Watches an analysis with three lines and stops it as soon as it is deep enough.
// usage: node analyse.mjs [FEN]
import { createEngine } from 'sardonyx';

const fen = process.argv[2] ?? 'r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5Q2/PPPP1PPP/RNB1K1NR w KQkq - 4 4';

const engine = await createEngine({ threads: 1, options: { MultiPV: 3 } });
engine.position({ fen });
const search = engine.go();
for await (const info of search) {
  const lines = info.lines.map(({ pv, score }) => `${pv[0]} (${score.kind} ${score.value})`);
  console.log(`${info.nodes} nodes: ${lines.join(', ')}`);
  // Leaving the loop stops the search.
  if (info.nodes >= 50) break;
}
const { move, ponder } = await search.bestMove;
console.log(`best ${move}, expecting ${ponder ?? 'nothing'}`);
await engine.dispose();
