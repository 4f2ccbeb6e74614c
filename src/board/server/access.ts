/**
 * Who may talk to the server. Three checks, each enough to keep a foreign web page out:
 * - Host must name the server (a page that makes its own name point here, DNS rebinding, has its own name there).
 * - Origin, where a browser sends it, must be the server's own; a WebSocket must send it.
 * - A cookie that the token in the printed URL was exchanged for. It is random, HttpOnly and SameSite=Strict.
 *
 * Browsers send cookies to every port of a host, but only with requests for the cookie's path. So everything lies below a path that nobody
 * guesses, and a server on another port, which does not know it, never gets the cookie. A cookie that is not used for a day ends.
 *
 * A token is for one browser: the first request with its cookie spends it, for it stands in the arguments of the program that opens
 * the browser; a spent one does not tell the path. Tokens have 192 bits: nobody guesses one, and so nobody needs to wait after wrong ones.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

const TOKEN_BYTES = 24;
const SESSION_MS = 86_400_000;
/** Browsers; with one more, the one that was away longest has to use a new URL. */
const MOST_SESSIONS = 32;

export class Access {
  /** What every path but the token's begins with. */
  readonly place = `/${createSecret()}`;
  private ownToken = createSecret();
  /** Cookie of the token until it comes back. */
  private offered: string | null = null;
  /** Digest of a cookie → when it was last used; the last one comes last. */
  private readonly sessions = new Map<string, number>();

  /**
   * @param hosts names and addresses by which the server may be called, without port
   * @param port cookies do not know ports, so that the cookie's name says it
   * @param onSpent there is a new token, for another browser
   */
  constructor(
    private readonly hosts: readonly string[],
    private readonly port: number,
    private readonly onSpent: () => void,
  ) {}

  get token(): string {
    return this.ownToken;
  }

  /** Why a request is turned away before anything else; null when it is not. */
  findObstacle({ host, origin }: IncomingHttpHeaders, needsOrigin: boolean): string | null {
    if (host === undefined || !this.isOwnHost(host)) return 'This server does not answer to that host name';
    if (origin === undefined) return needsOrigin ? 'The Origin header is missing' : null;
    return origin === `http://${host}` ? null : 'Requests from other origins are refused';
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
    const isFirst = this.offered !== null && isSame(value, this.offered);
    const key = hash(value).toString('hex');
    const usedAtMs = isFirst ? nowMs : this.sessions.get(key);
    this.sessions.delete(key);
    if (usedAtMs === undefined || nowMs - usedAtMs > SESSION_MS) return false;
    this.sessions.set(key, nowMs);
    if (isFirst) this.spendToken();
    return true;
  }

  /** @returns the Set-Cookie header for the right token; null for a wrong or spent one */
  exchange(token: string): string | null {
    if (!isSame(token, this.ownToken)) return null;
    this.offered ??= createSecret();
    return `${this.cookieName}=${this.offered}; Path=${this.place}/; HttpOnly; SameSite=Strict`;
  }

  private spendToken(): void {
    this.offered = null;
    this.ownToken = createSecret();
    const [oldest] = this.sessions.keys();
    if (this.sessions.size > MOST_SESSIONS) this.sessions.delete(oldest);
    this.onSpent();
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

/** In a time that says nothing of where they differ. */
function isSame(a: string, b: string): boolean {
  return timingSafeEqual(hash(a), hash(b));
}

function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
