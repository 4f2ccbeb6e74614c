/**
 * lc0's network container: decodes protobuf bytes to a `NetMessage` and checks it as lc0 does on load.
 * Decoding copies no weights: every `params` is a view of the given bytes.
 */

import { DamagedMessage } from '../nn/index.js';
import { NetworkError } from '../onnx/index.js';
import { NET_MAGIC, type NetMessage, NetworkStructure, netType } from './net-schema.js';
import { repairNetworkFormat } from './repair-format.js';

/** The newest lc0 whose networks we can read. */
const KNOWN_LC0_VERSION = { major: 0, minor: 33 } as const;
/** lc0 accepts networks with this odd minimal version (its loader.cc, 0x5c99973 = 97.98.99). */
const ALWAYS_ACCEPTED_VERSION = '97.98.99';
/** The largest real networks have a few thousand. */
const MAX_FIELDS = 100_000;

/** Field 1, fixed32, 0x1c0: the first bytes of every inflated network file. */
const FILE_HEAD = [0x0d, NET_MAGIC & 0xff, NET_MAGIC >> 8, 0, 0] as const;

export function hasNetworkHead(bytes: Uint8Array): boolean {
  return FILE_HEAD.every((byte, index) => bytes[index] === byte);
}

/** @throws NetworkError */
export function parseNet(bytes: Uint8Array): NetMessage {
  if (bytes[0] === 0x31 && bytes[1] === 0x0a)
    throw new NetworkError('it is a text network of version 1, which is no longer supported');
  if (bytes[0] === 0x32 && bytes[1] === 0x0a) {
    throw new NetworkError("it is a text network of 2018; convert it with net.py of lc0's lczero-training first");
  }
  if (!hasNetworkHead(bytes)) throw new NetworkError('it is not an lc0 network file');
  const net = decodeNet(bytes);
  const version = net.minVersion;
  const major = version?.major ?? 0;
  const minor = version?.minor ?? 0;
  const versionText = `${major}.${minor}.${version?.patch ?? 0}`;
  const isNewer =
    major > KNOWN_LC0_VERSION.major || (major === KNOWN_LC0_VERSION.major && minor > KNOWN_LC0_VERSION.minor);
  if (isNewer && versionText !== ALWAYS_ACCEPTED_VERSION) {
    const known = `${KNOWN_LC0_VERSION.major}.${KNOWN_LC0_VERSION.minor}`;
    throw new NetworkError(`it needs lc0 ${versionText}, but only networks up to lc0 ${known} are supported`);
  }
  if (!net.weights && !net.onnxModel?.model) {
    throw new NetworkError('it holds neither weights nor an ONNX model');
  }
  repairNetworkFormat(net);
  if (net.format?.networkFormat?.network === NetworkStructure.NETWORK_ONNX && !net.onnxModel?.model) {
    throw new NetworkError('its format says ONNX, but it holds no ONNX model');
  }
  return net;
}

function decodeNet(bytes: Uint8Array): NetMessage {
  try {
    return netType.decode(bytes, MAX_FIELDS, false) as NetMessage;
  } catch (error) {
    throw error instanceof DamagedMessage ? new NetworkError(error.message) : error;
  }
}
