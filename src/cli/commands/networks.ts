/** `sardonyx networks`: lists the networks that have a name, bundled or to download, and downloads them. */
import { getProgramCommand } from '#platform/machine.js';
import { getProgramPath, isPackaged, readProgramFile } from '#platform/program-files.js';
import { formatMegabytes, suggestName, unwrap } from '../../base/util/index.js';
import { LEVELS_NETWORK } from '../../engine/core/options.js';
import {
  type BundledNetwork,
  type CataloguedNetwork,
  downloadNetwork,
  findBundledNetwork,
  findRemoteNetwork,
  getNetworkName,
  isDownloaded,
  listBundledNetworks,
  NETWORK_CATALOGUE,
  type RemoteNetwork,
} from '../../engine/weights/index.js';
import { choice, declareCommand, onOff, text, words } from '../declare-command.js';
import { createDownloadBar, printJson, printLine, printNote } from '../output.js';

const NAME_WIDTH = 13;
const INDENT = ' '.repeat(NAME_WIDTH + 11);

export const networksCommand = declareCommand({
  command: 'networks [action] [names..]',
  describe: 'List the networks that have a name, or download some of them',
  words: {
    action: choice(['list', 'get'], 'list', 'What to do'),
    names: words('With get: names from the list, or addresses of network files', { defaultDescription: 'none' }),
  },
  // biome-ignore format: a row a flag
  flags: {
    from: text('With get: take the file from this address (a mirror) and check that it is the same', { requiresArg: true }),
    json: onOff('Print the result as JSON'),
  },
  epilogue:
    '`--weights=NAME` and `--weights=https://…` download a network too, unless it is bundled. Files are kept in the cache folder, which ' +
    '`sardonyx doctor` names; deleting one there is harmless.',
  run: async ({ action, names, from, json }) => {
    if (action === 'list') {
      if (names.length > 0 || from !== undefined) throw new Error('Names and --from go with `networks get`');
      const catalogued = NETWORK_CATALOGUE.map((network) => ({ ...network, path: findDownloaded(network) }));
      const rows: readonly NetworkRow[] = [...listBundled(), ...catalogued];
      if (json) printJson(rows);
      else for (const row of rows) for (const line of formatRow(row)) printLine(line);
      return;
    }
    if (names.length === 0) throw new Error(`Name a network: ${getProgramCommand()} networks lists them`);
    if (from !== undefined && names.length > 1) throw new Error('--from goes with one network at a time');
    const wanted = names.map(requireRemote);
    const paths: string[] = [];
    for (const network of wanted) paths.push(await getNetwork(network, from));
    if (json) printJson(wanted.map(({ name }, index) => ({ name, path: paths[index] })));
    else for (const path of paths) printLine(path);
  },
});

/** A network of the list. `url` is null for a bundled one; `path` is null where there is no file of it. */
type NetworkRow = Omit<CataloguedNetwork, 'url'> & { readonly url: string | null; readonly path: string | null };

function listBundled(): NetworkRow[] {
  return listBundledNetworks().map((network) => {
    const { file, sha256 } = network;
    const bytes = readProgramFile(`models/${file}`)?.length ?? 0;
    return {
      name: getNetworkName(network),
      url: null,
      sha256,
      megabytes: Number(formatMegabytes(bytes)),
      licence: 'GPL-3.0-or-later',
      source: 'models/README.md',
      purpose: `bundled, ${network.precision}; ${describeUse(network)}`,
      path: isPackaged ? null : getProgramPath(`models/${file}`),
    };
  });
}

function describeUse(network: BundledNetwork): string {
  const uses = [...network.backends, ...(getNetworkName(network) === LEVELS_NETWORK ? ['limited strength'] : [])];
  return uses.length === 0 ? 'only by name' : `for ${uses.join(', ')}`;
}

function findDownloaded({ name }: CataloguedNetwork): string | null {
  const remote = findRemoteNetwork(name);
  return remote?.ok && isDownloaded(remote.value) ? remote.value.path : null;
}

function requireRemote(name: string): RemoteNetwork {
  const remote = findRemoteNetwork(name);
  const names = NETWORK_CATALOGUE.map((network) => network.name);
  if (findBundledNetwork(listBundledNetworks(), name) !== undefined) {
    throw new Error(`The network ${name} comes with the program: use it with --weights=${name}`);
  }
  if (remote === null)
    throw new Error(
      `There is no network ${name}${suggestName(name, names, `${getProgramCommand()} networks lists the known ones`)}`,
    );
  return unwrap(remote);
}

async function getNetwork(network: RemoteNetwork, from: string | undefined): Promise<string> {
  if (isDownloaded(network)) {
    printNote(`${network.name} is already downloaded`);
    return network.path;
  }
  return unwrap(await downloadNetwork(network, createDownloadBar(), from));
}

function formatRow(network: NetworkRow): string[] {
  const { name, megabytes, purpose, licence, source, path } = network;
  const size = megabytes === null ? '' : `${megabytes} MB`;
  return [
    `${name.padEnd(NAME_WIDTH)} ${size.padStart(8)}  ${purpose}`,
    `${INDENT}licence: ${licence}; ${source}`,
    ...(path === null ? [] : [`${INDENT}in ${path}`]),
  ];
}
