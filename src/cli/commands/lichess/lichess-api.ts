/**
 * The two servers of lichess's external engines: the registry on lichess.org, which needs a token with the scopes
 * engine:read and engine:write, and the broker, which hands out work by long polling and takes UCI lines in return.
 */
import { fetchThroughProxy } from '../../../networks/index.js';

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
const POLL_PATIENCE_MS = 30_000;

/** lichess refuses the request, and trying again will not help. The message is one sentence. */
export class LichessRefusal extends Error {}

/** Registers the engine, or updates the engine of the same name. Rejects with one sentence. */
export async function registerEngine(servers: LichessServers, registration: Registration): Promise<void> {
  const list = `${servers.registry}/api/external-engine`;
  const headers = { authorization: `Bearer ${servers.token}`, 'content-type': 'application/json' };
  const known = (await (await send(list, { headers })).json()) as { id: string; name: string }[];
  const same = known.find(({ name }) => name === registration.name);
  const body = JSON.stringify(registration);
  if (same === undefined) await send(list, { method: 'POST', headers, body });
  else await send(`${list}/${same.id}`, { method: 'PUT', headers, body });
}

/** Waits for work. @returns what the broker sends, null when there is none yet */
export async function acquireWork(servers: LichessServers, secret: string, signal: AbortSignal): Promise<unknown> {
  const response = await send(`${servers.broker}/api/external-engine/work`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ providerSecret: secret }),
    signal: AbortSignal.any([signal, AbortSignal.timeout(POLL_PATIENCE_MS)]),
  });
  if (response.status === 204) return null;
  return response.json();
}

/** Resolves when the broker has the whole analysis; rejects when it closes the connection. */
export async function submitWork(
  servers: LichessServers,
  id: string,
  lines: ReadableStream<Uint8Array>,
  signal: AbortSignal,
): Promise<void> {
  const url = `${servers.broker}/api/external-engine/work/${encodeURIComponent(id)}`;
  const request = { method: 'POST', headers: { 'content-type': 'text/plain' }, body: lines, signal, duplex: 'half' };
  await send(url, request as RequestInit);
}

async function send(url: string, request: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetchThroughProxy(url, request);
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
    const reason = (await response.text()).replace(/\s+/g, ' ').slice(0, 200);
    throw new Error(`${url} answers ${response.status}${reason === '' ? '' : `: ${reason}`}`);
  }
  return response;
}
