// Analyses a position with three lines, with the engine in the page. docs/web.md says how to serve it.
import { createEngine } from 'sardonyx/web';

const find = (id) => document.getElementById(id);
const say = (text) => {
  find('status').textContent = text;
};

let engine;

/** @param {File} [file] the network of its own when left out */
async function load(file) {
  say('Loading the network …');
  await engine?.dispose();
  engine = undefined;
  try {
    const settings = { options: { MultiPV: 3 }, onWarning: say };
    engine = await createEngine(file === undefined ? settings : { ...settings, weights: file });
    say(engine.network);
  } catch (error) {
    say(error.message);
  }
}

function showLines(lines) {
  const items = lines.map(({ score, pv }) => {
    const item = document.createElement('li');
    const value = score.kind === 'mate' ? `mate in ${score.value}` : (score.value / 100).toFixed(2);
    item.textContent = `${value}: ${pv.join(' ')}`;
    return item;
  });
  find('lines').replaceChildren(...items);
}

async function analyse() {
  try {
    engine.position({ fen: find('fen').value });
    const search = engine.go({ moveTime: 5000 });
    for await (const { nodes, nodesPerSecond, lines } of search) {
      say(`${nodes} nodes, ${nodesPerSecond ?? '…'} a second`);
      showLines(lines);
    }
    say(`Best: ${(await search.bestMove).move}`);
  } catch (error) {
    say(error.message);
  }
}

find('network').addEventListener('change', ({ target }) => load(target.files[0]));
find('analysis').addEventListener('submit', (event) => {
  event.preventDefault();
  if (engine !== undefined) analyse();
});
find('stop').addEventListener('click', () => engine?.stop());
load();
