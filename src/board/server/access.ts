/**
 * Who may talk to the server. Three checks, each enough to keep a foreign web page out:
 * - Host must name the server (a page that makes its own name point here, DNS rebinding, has its own name there).
 * - Origin, where a browser sends it, must be the server's own; a WebSocket must send it.
 * - A cookie that the token in the printed URL was exchanged for. It is random, HttpOnly and SameSite=Strict.
 *
 * Browsers send cookies to every port of a host, but only with requests for the cookie's path. So everything lies below a path that nobody
 * guesses, and a server on another port, which does not know it, never gets the cookie. A cookie that is not used for a day ends.
 *
 * A token is for one browser. Each exchange gives a cookie of its own; the first request with one of them spends the token and voids the
 * others, and a spent token does not tell the path. The token for the program that opens the browser is not printed but stands in
 * that program's arguments, so it ends after two minutes. Tokens have 192 bits: nobody guesses one, and so nobody needs to wait after
 * wrong ones.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

const TOKEN_BYTES = 24;
const SESSION_MS = 86_400_000;
/** Browsers; with one more, the one that was away longest has to use a new URL. */
const MOST_SESSIONS = 32;
const LENT_MS = 120_000;

interface Offer {
  readonly token: string;
  readonly endsAtMs: number;
  /** Digests of the cookies that it was exchanged for and that have not come back. */
  readonly cookies: Set<string>;
}

export class Access {
  /** What every path but the token's begins with. */
  readonly place = `/${createSecret()}`;
  /** The one that is printed, and behind it those that are lent. */
  private readonly offers: Offer[] = [createOffer(Number.POSITIVE_INFINITY)];
  /** Digest of a cookie → when it was last used; the last one comes last. */
  private readonly sessions = new Map<string, number>();

  /**
   * @param hosts names and addresses by which the server may be called, without port; the first is the one to use
   * @param port cookies do not know ports, so that the cookie's name says it
   * @param onSpent the printed token was used: there is a new one, for another browser
   */
  constructor(
    private readonly hosts: readonly string[],
    private readonly port: number,
    private readonly onSpent: () => void,
  ) {}

  /** To be printed. */
  get token(): string {
    return this.offers[0].token;
  }

  /** A further token, for the browser that the server opens. */
  lendToken(nowMs = Date.now()): string {
    const offer = createOffer(nowMs + LENT_MS);
    this.offers.push(offer);
    return offer.token;
  }

  /** Why a request is turned away before anything else; null when it is not. */
  findObstacle({ host, origin }: IncomingHttpHeaders, needsOrigin: boolean): string | null {
    if (host === undefined || !this.isOwnHost(host)) return 'This server does not answer to that host name';
    if (origin === undefined) return needsOrigin ? 'The Origin header is missing' : null;
    return origin === `http://${host}` ? null : 'Requests from other origins are refused';
  }

  /** Where the browser should be when it has called the server `localhost`: what it keeps belongs to one name. Null = it has not. */
  findOrigin({ host }: IncomingHttpHeaders): string | null {
    const [first] = this.hosts;
    const name = /^(127\.|\[::1\]|localhost$)/.test(first) ? first : '127.0.0.1';
    return host === `localhost:${this.port}` && name !== 'localhost' ? `http://${name}:${this.port}` : null;
  }

  /** The part of a request's path below the place; null when it lies elsewhere. */
  findPath(url = '/'): string | null {
    return url.startsWith(`${this.place}/`) ? url.slice(this.place.length) : null;
  }

  hasCookie({ cookie = '' }: IncomingHttpHeaders, nowMs = Date.now()): boolean {
    const value = cookie
      .split(';')
      .map((part) => part.trim())
      .find((part) => part.startsWith(`${this.cookieName}=`))
      ?.slice(this.cookieName.length + 1);
    if (value === undefined) return false;
    const key = hash(value);
    const offer = this.offers.find(({ cookies, endsAtMs }) => cookies.has(key) && nowMs < endsAtMs);
    const usedAtMs = offer === undefined ? this.sessions.get(key) : nowMs;
    this.sessions.delete(key);
    if (usedAtMs === undefined || nowMs - usedAtMs > SESSION_MS) return false;
    this.sessions.set(key, nowMs);
    dropOldest(this.sessions);
    if (offer !== undefined) this.spend(offer);
    return true;
  }

  /** @returns the Set-Cookie header for a right token; null for one that is wrong, spent or at its end */
  exchange(token: string, nowMs = Date.now()): string | null {
    const key = hash(token);
    const offer = this.offers.find((own) => hash(own.token) === key && nowMs < own.endsAtMs);
    if (offer === undefined) return null;
    const cookie = createSecret();
    offer.cookies.add(hash(cookie));
    dropOldest(offer.cookies);
    return `${this.cookieName}=${cookie}; Path=${this.place}/; HttpOnly; SameSite=Strict`;
  }

  private spend(offer: Offer): void {
    const at = this.offers.indexOf(offer);
    if (at > 0) this.offers.splice(at, 1);
    else {
      this.offers[0] = createOffer(Number.POSITIVE_INFINITY);
      this.onSpent();
    }
  }

  private get cookieName(): string {
    return `sardonyx_${this.port}`;
  }

  private isOwnHost(host: string): boolean {
    return this.hosts.some((name) => host === `${name}:${this.port}` || (this.port === 80 && host === name));
  }
}

function createSecret(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

function createOffer(endsAtMs: number): Offer {
  return { token: createSecret(), endsAtMs, cookies: new Set() };
}

function dropOldest(keys: Map<string, unknown> | Set<string>): void {
  const [oldest] = keys.keys();
  if (keys.size > MOST_SESSIONS) keys.delete(oldest);
}

/** Secrets are compared by their digests: the time that it takes says nothing of where they differ. */
function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
