/**
 * Checks every flag of a built lc0 against Sardonyx's help: each is taken, taken without effect, or refused, the last two with a
 * sentence; a flag that the help does not know is an error.
 *
 *     node scripts/lab/compare/lc0-flags.mjs LC0 [RESCORER]
 *
 * Without the program of lc0's rescorer, its flags are those of lc0's source of 2026-04 (trainingdata/rescorer.cc).
 */
import { spawnSync } from 'node:child_process';

const [lc0, rescorer] = process.argv.slice(2);
if (lc0 === undefined) throw new Error('Name the program of lc0');

const MODES = ['', 'selfplay', 'rescorer', 'benchmark', 'backendbench', 'describenet', 'leela2onnx', 'onnx2leela'];
const RESCORER_FLAGS = [
  ...['syzygy-paths', 'gaviotatb-paths', 'input', 'output', 'policy-substitutions', 'threads', 'temperature'],
  ...['dist_offset', 'dtz_policy_boost', 'new-input-format', 'deblunder', 'deblunder-q-blunder-threshold'],
  ...['deblunder-q-blunder-width', 'nnue-plain-file', 'nnue-best-score', 'nnue-best-move', 'delete-files'],
];
const POINTER = 'The engine’s flags, such as';

function read(program, args) {
  const { stdout, stderr, error } = spawnSync(program, args, {
    encoding: 'utf8',
    env: { ...process.env, COLUMNS: '10000' },
  });
  if (error !== undefined) throw error;
  return `${stdout}\n${stderr}`;
}

/** Names of lc0's flags: `-w,  --weights=STRING`, `--[no-]chess960`. */
function listFlags(mode) {
  if (mode === 'rescorer' && rescorer === undefined) return RESCORER_FLAGS;
  const help = read(mode === 'rescorer' ? rescorer : lc0, [...(mode === '' ? [] : [mode]), '--help', '--show-hidden']);
  return [...help.matchAll(/^\s+(?:-\w,\s+)?--(?:\[no-\])?([\w-]+)/gm)].map(([, name]) => name);
}

const ours = (mode) =>
  read(process.execPath, ['dist/cli/main.js', ...(mode === '' ? [] : [mode]), '--help', '--show-hidden']);
/** The text of a flag from its name to the next flag. */
function findText(help, name) {
  const found = new RegExp(`--${name}(?![\\w-])([\\s\\S]*?)(?=\\n\\s+(?:-\\w, )?--|$)`).exec(help);
  return found === null ? null : found[1].replace(/\s+/g, ' ').trim();
}

const engineHelp = ours('');
let missing = 0;
for (const mode of MODES) {
  const help = ours(mode);
  const texts = help.includes(POINTER) || mode === '' ? [help, engineHelp] : [help];
  const rows = listFlags(mode).map((name) => [
    name,
    texts.map((text) => findText(text, name)).find((text) => text !== null),
  ]);
  const of = (word) => rows.filter(([, text]) => text?.startsWith(word));
  const unknown = rows.filter(([, text]) => text === undefined);
  missing += unknown.length;
  const [idle, refused] = [of('No effect:'), of('Refused:')];
  console.log(
    `${mode || 'lc0'}: ${rows.length} flags, ${rows.length - idle.length - refused.length - unknown.length} taken`,
  );
  for (const [name, text] of [...idle, ...refused]) console.log(`  --${name}: ${text}`);
  for (const [name] of unknown) console.log(`  --${name}: MISSING`);
}
process.exitCode = missing > 0 ? 1 : 0;
