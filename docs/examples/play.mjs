// The engine plays both sides of a short game and shows how it thinks.
// usage: node play.mjs [moves] [nodes a move]
import { createEngine } from 'sardonyx';

const plies = Number(process.argv[2] ?? 6);
const nodes = Number(process.argv[3] ?? 100);

const engine = await createEngine({ onWarning: (sentence) => console.error(sentence) });
console.log(`Network: ${engine.network}`);

const moves = [];
while (moves.length < plies) {
  engine.position({ moves });
  const search = engine.go({ nodes });
  let last;
  for await (const info of search) last = info;
  const { move } = await search.bestMove;
  if (move === null) break;
  const [line] = last.lines;
  console.log(`${move}  ${line.score.kind} ${line.score.value}  ${last.nodes} nodes  ${line.pv.slice(0, 4).join(' ')}`);
  moves.push(move);
}
await engine.dispose();
