/** The option table of the docs, from the same declarations as `uci` and `--help` (docs/options.md; a test compares). */

import { listOtherNames, type OptionSpec } from '#sardonyx/base/options/index.js';
import { listOptionSections, listOptionSpecs, type OptionSection } from '#sardonyx/engine/app/all-options.js';

const INTRODUCTION = `# Options

Names, flags, defaults and ranges are lc0's wherever lc0 has the option. A flag is written \`--flag=value\`, \`--flag value\` or, for
switches, \`--flag\` and \`--no-flag\`. A config file has one flag a line, with or without the dashes: the file of \`--config\`, else
\`sardonyx.config\` and \`lc0.config\` in the current folder, beside the program, or in the user's folder (\`~/.config/sardonyx\`,
\`~/.config/lc0\`). One in the current folder, which may be a stranger's, cannot set options that name a file, a device or an address.
The command line overrides files, and \`sardonyx.config\` overrides \`lc0.config\`. *Hidden* options are listed by \`uci\` only with
\`--show-hidden\`; they can always be set. This page is generated ([CONTRIBUTING.md](../CONTRIBUTING.md)).
`;

export function formatOptionsPage(): string {
  const sections = listOptionSections();
  const pages = sections
    .slice(0, -1)
    .map(({ title, specs }) => [`## ${title}`, '', ...formatTable(specs), ''].join('\n'));
  return [INTRODUCTION, ...pages, formatOtherNames(), formatNoOps(sections.at(-1))].join('\n');
}

function formatOtherNames(): string {
  const names = listOptionSpecs().flatMap((spec) => listOtherNames(spec).map(({ uci }) => `${uci} = ${spec.uci}`));
  return `Other names: ${names.join(', ')}.\n`;
}

/** One row for all options that do nothing for the same reason. */
function formatNoOps(section: OptionSection | undefined): string {
  const { title = '', specs = [] } = section ?? {};
  const byReason = new Map<string, string[]>();
  for (const spec of specs) {
    const names = byReason.get(spec.help) ?? [];
    byReason.set(spec.help, names);
    names.push(`${spec.uci}${spec.flag === '' ? '' : ` (\`--${spec.flag}\`)`}`);
  }
  const rows = [...byReason].map(([reason, names]) => `| ${names.join(', ')} | ${reason.replace('No effect: ', '')} |`);
  return [`## ${title}`, '', '| options | why |', '|---|---|', ...rows, ''].join('\n');
}

function formatTable(specs: readonly OptionSpec[]): string[] {
  const head = ['| UCI option | flag | default | range | meaning |', '|---|---|---|---|---|'];
  const rows = specs.map((spec) => {
    const flag = spec.flag === '' ? '' : `\`--${spec.flag}\`${spec.alias === undefined ? '' : ` \`-${spec.alias}\``}`;
    const name = `${spec.uci}${spec.hidden === true ? ' *(hidden)*' : ''}`;
    const value = spec.kind === 'button' ? '(button)' : `${spec.default}`;
    const cells = [name, flag, value, describeRange(spec), spec.help];
    return `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('<', '&lt;')).join(' | ')} |`;
  });
  return [...head, ...rows];
}

function describeRange(spec: OptionSpec): string {
  if (spec.kind === 'int' || spec.kind === 'float') return `${spec.min} … ${spec.max}`;
  return spec.kind === 'choice' ? spec.choices.join(', ') : '';
}
