/**
 * Networks that can be downloaded by name: lc0's, Maia, and others in lc0's formats. Each entry has the address at which the
 * authors publish the file, and the digest that the download must have. None of them is part of this program.
 *
 * Sources of the addresses: T1 and BT4 on lczero.org/play/networks/bestnets, the Maia networks on
 * lczero.org/play/networks/sparring-nets and in the release v1.0 of github.com/CSSLab/maia-chess, Bad Gyal in the wiki of
 * github.com/dkappe/leela-chess-weights. The digests are those that public build scripts of other programs check.
 */

import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { findCacheFolder } from '#platform/folders.js';
import { failure, type Result, success } from '../../base/util/index.js';

/** A network that can be downloaded. */
export interface RemoteNetwork {
  /** As the user wrote it. */
  readonly name: string;
  readonly url: string;
  /** In hexadecimal; null for an address without one. */
  readonly sha256: string | null;
  /** Path of the file, which may not exist yet. */
  readonly path: string;
}

const DIGEST = /^#sha256=([0-9a-f]{64})$/i;

/**
 * The network of the catalogue, or of an address, that WeightsFile names; null if it is neither. An address may end in
 * `#sha256=…`, which the download then checks.
 */
export function findRemoteNetwork(weightsFile: string): Result<RemoteNetwork> | null {
  const catalogued = findCatalogued(weightsFile);
  if (catalogued === undefined && !/^https?:\/\//i.test(weightsFile)) return null;
  const folder = findCacheFolder('networks');
  if (folder === undefined) return failure(`There is no cache folder to keep the network ${weightsFile} in`);
  if (catalogued !== undefined) {
    const { url, sha256 } = catalogued;
    return success({ name: weightsFile, url, sha256, path: join(folder, getUrlFileName(url)) });
  }
  if (!URL.canParse(weightsFile)) return failure(`${weightsFile} is not an address`);
  const url = new URL(weightsFile);
  const sha256 = DIGEST.exec(url.hash)?.[1].toLowerCase() ?? null;
  if (url.hash !== '' && sha256 === null) {
    return failure(`${weightsFile} ends in ${url.hash}, which is not #sha256= and 64 hexadecimal digits`);
  }
  const key = createHash('sha256').update(url.href).digest('hex').slice(0, 12);
  url.hash = '';
  const path = join(folder, `${key}-${getUrlFileName(url.href) || 'network'}`);
  return success({ name: weightsFile, url: url.href, sha256, path });
}

export function isDownloaded({ path }: RemoteNetwork): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

export interface CataloguedNetwork {
  /** The name for `--weights`. */
  readonly name: string;
  /** The published file; its name without the extension is a name of the network too. */
  readonly url: string;
  readonly sha256: string;
  /** Null where no public source states it. */
  readonly megabytes: number | null;
  readonly licence: string;
  /** The page that offers it. */
  readonly source: string;
  /** What it is for, in a few words. */
  readonly purpose: string;
}

const CONTRIBUTED = 'https://storage.lczero.org/files/networks-contrib';
const BEST_NETS = 'https://lczero.org/play/networks/bestnets/';
const UNSTATED = 'none stated';

const MAIA_DIGESTS: Readonly<Record<number, string>> = {
  1100: 'e1cf1cd0c96b8a4fa6a275f4b9fd54ed1ffebf9fe44641b9fceded310e9619c4',
  1200: 'ead4ba953f233ae732999ebc1e2b675378148527ebcfad2f0acbc5e4c224d98e',
  1300: '36195f87bf4761834baa0bf87472b18509a7261a9d7d6f1a8443261369a733f2',
  1400: 'd5353ea6766356dad2d28920c6692f37a5f30963767f1a3105d33b4d0af011e8',
  1500: '35ab6f20421d59e1df3b17c5a5016947af4c6761368ef84044a9a9c7619a9a00',
  1600: 'd2c9e5948581acf4b9fc0b1e720c5dc0fe64ce80cfc4a239d3f8a42e1176c876',
  1700: 'd277eacd792d340a30abb464dc65127254e65cac57abca17facc469889b96478',
  1800: '0031ad7c4256b1fd09fbebd28418d644d68b26cd2a45df4967ccf5c7ec9c4965',
  1900: 'e2f565f42d7cd9f122557e6dc4eb84e5bbaedceda1d404dc485d3611c7c97a12',
};

export const NETWORK_CATALOGUE: readonly CataloguedNetwork[] = [
  {
    name: 't1-256x10',
    url: `${CONTRIBUTED}/t1-256x10-distilled-swa-2432500.pb.gz`,
    sha256: 'bc27a6cae8ad36f2b9a80a6ad9dabb0d6fda25b1e7f481a79bc359e14f563406',
    megabytes: 37.1,
    licence: UNSTATED,
    source: BEST_NETS,
    purpose: 'small GPUs, long thinking on CPUs; attention, 256x10',
  },
  {
    name: 't1-512x15',
    url: `${CONTRIBUTED}/t1-512x15x8h-distilled-swa-3395000.pb.gz`,
    sha256: '1fdb1519e5b02e03f1d9201ec8eb95f640e32cc6459a4f14c0eab6890dc097e8',
    megabytes: 150,
    licence: UNSTATED,
    source: BEST_NETS,
    purpose: 'GPUs with 2 GB; attention, 512x15',
  },
  {
    name: 'bt4',
    url: `${CONTRIBUTED}/BT4-1024x15x32h-swa-6147500-policytune-332.pb.gz`,
    sha256: 'e6ada9d6c4a769bfab3aa0848d82caeb809aa45f83e6c605fc58a31d21bdd618',
    megabytes: 382.6,
    licence: UNSTATED,
    source: BEST_NETS,
    purpose: 'GPUs with 4 GB or more, long thinking; attention, 1024x15',
  },
  {
    name: 'badgyal-8',
    url: 'https://github.com/dkappe/leela-chess-weights/files/3799966/badgyal-8.pb.gz',
    sha256: 'ef0a7e4c977fce5123e3e1bbee422bfbab031a7aaad6e02d6e46aeb8d06f2295',
    megabytes: null,
    licence: UNSTATED,
    source: 'https://github.com/dkappe/leela-chess-weights/wiki/Bad-Gyal',
    purpose: 'CPUs; residual, 128x10',
  },
  ...Object.entries(MAIA_DIGESTS).map(([rating, sha256]) => ({
    name: `maia-${rating}`,
    url: `https://github.com/CSSLab/maia-chess/releases/download/v1.0/maia-${rating}.pb.gz`,
    sha256,
    megabytes: 1.3,
    licence: 'GPL-3.0',
    source: 'https://github.com/CSSLab/maia-chess/releases/tag/v1.0',
    purpose: `any CPU; plays like people rated ${rating} at one node a move; residual, 64x6`,
  })),
];

/** Finds a network by its name or its file's name without the extension; case does not matter. */
function findCatalogued(name: string): CataloguedNetwork | undefined {
  const wanted = name.toLowerCase();
  return NETWORK_CATALOGUE.find(
    (network) =>
      network.name === wanted ||
      getUrlFileName(network.url)
        .replace(/\.pb\.gz$/, '')
        .toLowerCase() === wanted,
  );
}

/** The last part of an address. */
function getUrlFileName(url: string): string {
  return new URL(url).pathname.split('/').at(-1) ?? '';
}
