/**
 * Who may talk to the server. Three checks, each enough to keep a foreign web page out:
 * - Host must name the server (a page that makes its own name point here, DNS rebinding, has its own name there).
 * - Origin, where a browser sends it, must be the server's own; a WebSocket must send it.
 * - A cookie that the token in the printed URL was exchanged for. It is random, HttpOnly and SameSite=Strict.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

const TOKEN_BYTES = 24;
/** Wrong tokens a minute, after which right ones have to wait as well. */
const MOST_WRONG_TOKENS = 20;
const MINUTE_MS = 60_000;

export class Access {
  readonly token = randomBytes(TOKEN_BYTES).toString('base64url');
  private readonly session = randomBytes(TOKEN_BYTES).toString('base64url');
  private wrongTokens = 0;
  private minuteBeganAtMs = 0;

  /**
   * @param hosts names and addresses by which the server may be called, without port
   * @param port cookies do not know ports, so that the cookie's name says it
   */
  constructor(
    private readonly hosts: readonly string[],
    private readonly port: number,
  ) {}

  /** Why a request is turned away before anything else; null when it is not. */
  findObstacle({ host, origin }: IncomingHttpHeaders, needsOrigin: boolean): string | null {
    if (host === undefined || !this.isOwnHost(host)) return 'This server does not answer to that host name';
    if (origin === undefined) return needsOrigin ? 'The Origin header is missing' : null;
    return origin === `http://${host}` ? null : 'Requests from other origins are refused';
  }

  hasCookie({ cookie = '' }: IncomingHttpHeaders): boolean {
    const value = cookie
      .split(';')
      .map((part) => part.trim())
      .find((part) => part.startsWith(`${this.cookieName}=`))
      ?.slice(this.cookieName.length + 1);
    return value !== undefined && isSame(value, this.session);
  }

  /** @returns the Set-Cookie header for the right token, otherwise why there is none */
  exchange(token: string, nowMs = Date.now()): { readonly cookie: string } | { readonly refusal: 'wrong' | 'wait' } {
    if (nowMs - this.minuteBeganAtMs > MINUTE_MS) {
      this.minuteBeganAtMs = nowMs;
      this.wrongTokens = 0;
    }
    if (this.wrongTokens >= MOST_WRONG_TOKENS) return { refusal: 'wait' };
    if (!isSame(token, this.token)) {
      this.wrongTokens++;
      return { refusal: 'wrong' };
    }
    return { cookie: `${this.cookieName}=${this.session}; Path=/; HttpOnly; SameSite=Strict` };
  }

  private get cookieName(): string {
    return `sardonyx_${this.port}`;
  }

  private isOwnHost(host: string): boolean {
    return this.hosts.some((name) => host === `${name}:${this.port}` || (this.port === 80 && host === name));
  }
}

/** In a time that says nothing of where they differ. */
function isSame(a: string, b: string): boolean {
  const [hashA, hashB] = [a, b].map((text) => createHash('sha256').update(text).digest());
  return timingSafeEqual(hashA, hashB);
}
