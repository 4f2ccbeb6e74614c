/**
 * The two servers of lichess's external engines: the registry on lichess.org, which needs a token with the scopes
 * engine:read and engine:write, and the broker, which hands out work by long polling and takes UCI lines in return.
 */

import { fetchThroughProxy } from '../../../engine/weights/index.js';

export interface LichessServers {
  readonly registry: string;
  readonly broker: string;
  readonly token: string;
}

export interface Registration {
  readonly name: string;
  readonly maxThreads: number;
  /** In MB. */
  readonly maxHash: number;
  readonly variants: readonly string[];
  /** The broker gives this engine's work to the holder of this secret. */
  readonly providerSecret: string;
}

/** The broker holds a poll for 10 s. */
const POLL_TIMEOUT_MS = 30_000;

const LONGEST_ANSWER = 1 << 20;

/** lichess refuses the request, and trying again will not help. The message is one sentence. */
export class LichessRefusal extends Error {}

/** Registers the engine, or updates the engine of the same name. Rejects with one sentence. */
export async function registerEngine(servers: LichessServers, registration: Registration): Promise<void> {
  const list = `${servers.registry}/api/external-engine`;
  const headers = { authorization: `Bearer ${servers.token}`, 'content-type': 'application/json' };
  const known = (await readJson(await send(list, { headers }), list)) as readonly { id?: unknown; name?: unknown }[];
  const same = Array.isArray(known) ? known.find((engine) => engine?.name === registration.name) : undefined;
  const body = JSON.stringify(registration);
  if (same === undefined) await send(list, { method: 'POST', headers, body });
  else if (!isLichessId(same.id)) throw new LichessRefusal(`${list} answers with an engine whose id is none`);
  else await send(`${list}/${same.id}`, { method: 'PUT', headers, body });
}

/** Waits for work. @returns what the broker sends, null when there is none yet */
export async function acquireWork(servers: LichessServers, secret: string, signal: AbortSignal): Promise<unknown> {
  const response = await send(`${servers.broker}/api/external-engine/work`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ providerSecret: secret }),
    signal: AbortSignal.any([signal, AbortSignal.timeout(POLL_TIMEOUT_MS)]),
  });
  if (response.status === 204) return null;
  return readJson(response, servers.broker);
}

/** Resolves when the broker has the whole analysis; rejects when it closes the connection. */
export async function submitWork(
  servers: LichessServers,
  id: string,
  lines: ReadableStream<Uint8Array>,
  signal: AbortSignal,
): Promise<void> {
  const url = `${servers.broker}/api/external-engine/work/${id}`;
  const request = { method: 'POST', headers: { 'content-type': 'text/plain' }, body: lines, signal, duplex: 'half' };
  await send(url, request as RequestInit);
}

async function send(url: string, request: RequestInit): Promise<Response> {
  let response: Response;
  try {
    // The token and the analysis are for this address alone.
    response = await fetchThroughProxy(url, { ...request, redirect: 'error' });
  } catch (error) {
    const { message, cause } = error as Error & { cause?: Error };
    throw new Error(`Cannot reach ${url} (${cause?.message ?? message})`);
  }
  if (response.status === 401 || response.status === 403) {
    throw new LichessRefusal(
      `${url} refuses the token (${response.status}); it needs the scopes engine:read and engine:write`,
    );
  }
  if (!response.ok) {
    const reason = (await readText(response, url).catch(() => '')).replace(/\s+/g, ' ').slice(0, 200);
    throw new Error(`${url} answers ${response.status}${reason === '' ? '' : `: ${reason}`}`);
  }
  return response;
}

/** Ids become parts of addresses: `..` would lead elsewhere. */
export function isLichessId(id: unknown): id is string {
  return typeof id === 'string' && /^[\w-]{1,100}$/.test(id);
}

async function readJson(response: Response, url: string): Promise<unknown> {
  const text = await readText(response, url);
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${url} answers with something else than JSON`);
  }
}

async function readText({ body }: Response, url: string): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > LONGEST_ANSWER) throw new Error(`${url} answers with more than ${LONGEST_ANSWER >> 20} MB`);
  }
  return text;
}
