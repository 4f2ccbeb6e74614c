/**
 * fetch through the proxy of the environment variables HTTPS_PROXY, HTTP_PROXY and NO_PROXY, which may also be in lower case.
 * Node's own fetch ignores them before Node 24. undici, the library behind Node's fetch, is loaded only if a proxy is set.
 */

import { env } from 'node:process';

type Fetch = (url: string, request: RequestInit) => Promise<Response>;

const PROXY_VARIABLES = ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY'] as const;

let proxied: Promise<Fetch> | undefined;

/** Like fetch. Also rejects if a proxy variable is not a URL; the error then names the variables. */
export async function fetchThroughProxy(url: string, request: RequestInit): Promise<Response> {
  if (PROXY_VARIABLES.every((name) => (env[name] ?? '') === '')) return fetch(url, request);
  proxied ??= createProxiedFetch();
  return (await proxied)(url, request);
}

async function createProxiedFetch(): Promise<Fetch> {
  const undici = await import('undici');
  const dispatcher = createAgent(undici.EnvHttpProxyAgent);
  // undici declares the types of fetch once more; they differ from Node's only in name.
  const fetchUndici = undici.fetch as (url: string, request: object) => Promise<unknown>;
  return (url, request) => fetchUndici(url, { ...request, dispatcher }) as Promise<Response>;
}

function createAgent<Agent>(EnvProxyAgent: new () => Agent): Agent {
  try {
    return new EnvProxyAgent();
  } catch {
    throw new Error('HTTPS_PROXY or HTTP_PROXY is not a URL such as http://proxy:3128');
  }
}
