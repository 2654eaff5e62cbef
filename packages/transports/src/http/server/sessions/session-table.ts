import { createHash } from "node:crypto";
import { ErrorCode } from "@millrace/errors";
import type { Timer } from "@millrace/platform";
import { CommandSession, type SessionParts } from "../../../virtual/command-session.ts";
import type { Credentials } from "../../../virtual/login-body.ts";
import { errorOfCode, HttpError } from "../../errors/http-error.ts";
import { type AccessTokens, type IssuedToken, unauthenticated } from "../access/access-tokens.ts";

/** How often sessions whose tokens have ended are looked for. */
const SWEEP_INTERVAL_MS = 10_000;
/** Verified tokens kept per session that may exist: a token that falls out is verified once more. */
const TOKENS_PER_SESSION = 4;

/** Tokens are looked up by their end: it tells them apart, and hashing all of one costs a microsecond. */
const TOKEN_KEY_LENGTH = 32;

/** A token that was seen to be good. */
interface Bearer {
  readonly token: string;
  readonly sessionKey: string;
  readonly userId: number | undefined;
  /** Unix seconds. */
  readonly expiresAt: number;
}

/** What the answer to a login says. */
export interface Identity extends IssuedToken {
  readonly userId: number;
}

/** What a table is made with. */
export interface SessionTableOptions {
  readonly parts: SessionParts;
  readonly tokens: AccessTokens;
  /** Sessions of HTTP clients at once: half of what the server's session table holds. */
  readonly sessionsMax: number;
  /** Seconds that a personal access token's session lives without use. */
  readonly idleSeconds: number;
  /** Why nobody can log in just now, in words, where it is known. */
  readonly whyNoLogin?: (() => string | undefined) | undefined;
}

/**
 * The sessions behind the bearers of tokens.
 *
 * One session per login, whatever tokens a refresh adds; one per personal access token. A token without a
 * session, because of a logout or a restart, gets a new one at its next use: the token itself says who it is.
 */
export class SessionTable {
  readonly #options: SessionTableOptions;
  readonly #sessions = new Map<string, CommandSession>();
  readonly #opening = new Map<string, Promise<CommandSession>>();
  readonly #bearers = new Map<string, Bearer>();
  #sweepTimer: Timer;
  #openingCount = 0;
  #isClosed = false;

  constructor(options: SessionTableOptions) {
    this.#options = options;
    this.#sweepTimer = this.#sweepLater();
  }

  /** Sessions that are open or being opened. */
  get count(): number {
    return this.#sessions.size + this.#openingCount;
  }

  /** Logs in and hands out a token. @throws HttpError */
  async login(credentials: Credentials, remoteAddress: string): Promise<Identity> {
    const { tokens } = this.#options;
    const sessionKey = tokens.newSessionKey();
    const session = await this.#open(sessionKey, credentials, remoteAddress);
    const issued = await tokens.issue(session.userId, sessionKey, session.openedAtMicros);
    session.expiresAt = issued.expiresAt;
    return { ...issued, userId: session.userId };
  }

  /** A new token in place of one that is still good; both use the same session. @throws HttpError 401 */
  async refresh(token: string): Promise<Identity> {
    const { tokens } = this.#options;
    const { userId, sessionKey, provedAtMicros } = await tokens.verify(token);
    const issued = await tokens.issue(userId, sessionKey, provedAtMicros);
    const session = this.#sessions.get(sessionKey);
    if (session !== undefined) session.expiresAt = Math.max(session.expiresAt, issued.expiresAt);
    return { ...issued, userId };
  }

  /** The session of a token seen before, when nothing needs to be waited for. */
  known(token: string): CommandSession | undefined {
    const bearer = this.#bearers.get(keyOf(token));
    if (bearer === undefined || bearer.token !== token) return undefined;
    if (bearer.expiresAt <= this.#options.tokens.nowSeconds()) return undefined;
    const session = this.#sessions.get(bearer.sessionKey);
    if (session !== undefined && bearer.userId === undefined) this.#touch(session);
    return session;
  }

  /** The session of any token, made when there is none. @throws HttpError 401 for a bad one; 503 when full */
  async find(token: string, remoteAddress: string): Promise<CommandSession> {
    const isJwt = token.split(".").length === 3;
    const session = isJwt
      ? await this.#findByJwt(token, remoteAddress)
      : await this.#findByPat(token, remoteAddress);
    while (this.#bearers.size > this.#options.sessionsMax * TOKENS_PER_SESSION) {
      this.#bearers.delete(this.#bearers.keys().next().value as string);
    }
    return session;
  }

  /** Ends every session; nobody gets one afterwards. */
  close(): void {
    this.#isClosed = true;
    this.#sweepTimer.cancel();
    for (const session of this.#sessions.values()) session.end();
    this.#bearers.clear();
  }

  async #findByJwt(token: string, remoteAddress: string): Promise<CommandSession> {
    const verified = await this.#options.tokens.verify(token);
    const { sessionKey, userId, provedAtMicros, expiresAt } = verified;
    const session = await this.#reuse(sessionKey, { user: { id: userId, provedAtMicros } }, remoteAddress);
    if (session.userId !== userId) throw errorOfCode(ErrorCode.InvalidClientId);
    session.expiresAt = Math.max(session.expiresAt, expiresAt);
    this.#bearers.set(keyOf(token), { token, sessionKey, userId, expiresAt });
    return session;
  }

  async #findByPat(token: string, remoteAddress: string): Promise<CommandSession> {
    const sessionKey = `pat:${createHash("sha256").update(token).digest("hex")}`;
    const bearer = { token, isBearer: true };
    const session = await this.#reuse(sessionKey, bearer, remoteAddress).catch((error: unknown) => {
      const isRefused = error instanceof HttpError && error.id === ErrorCode.InvalidPersonalAccessToken;
      throw isRefused ? unauthenticated() : error;
    });
    this.#touch(session);
    const expiresAt = Number.POSITIVE_INFINITY;
    this.#bearers.set(keyOf(token), { token, sessionKey, userId: undefined, expiresAt });
    return session;
  }

  /** Requests that come while a session is being made wait for the same one. */
  async #reuse(key: string, credentials: Credentials, remoteAddress: string): Promise<CommandSession> {
    const open = this.#sessions.get(key);
    if (open !== undefined) return open;
    let opening = this.#opening.get(key);
    if (opening === undefined) {
      opening = this.#open(key, credentials, remoteAddress).finally(() => this.#opening.delete(key));
      this.#opening.set(key, opening);
    }
    return opening;
  }

  async #open(key: string, credentials: Credentials, remoteAddress: string): Promise<CommandSession> {
    const { parts, sessionsMax } = this.#options;
    if (this.#isClosed) throw errorOfCode(ErrorCode.ShuttingDown);
    if (this.count >= sessionsMax) {
      const reason = "The server has no room for another HTTP session now.";
      throw errorOfCode(ErrorCode.TransientNotAccepted, { reason });
    }
    const onEnded = (session: CommandSession) => {
      if (this.#sessions.get(key) === session) this.#sessions.delete(key);
    };
    this.#openingCount++;
    const opening = CommandSession.open(parts, credentials, { remoteAddress, onEnded });
    const explained = (error: unknown) => {
      throw this.#explained(error);
    };
    const session = await opening.catch(explained).finally(() => this.#openingCount--);
    if (this.#isClosed) session.end();
    else this.#sessions.set(key, session);
    return session;
  }

  /** A login that is refused because other nodes are missing says so. */
  #explained(error: unknown): unknown {
    if (!(error instanceof HttpError) || error.id !== ErrorCode.TransientNotAccepted) return error;
    const reason = this.#options.whyNoLogin?.();
    return reason === undefined ? error : errorOfCode(error.id, { reason });
  }

  #touch(session: CommandSession): void {
    session.expiresAt = this.#options.tokens.nowSeconds() + this.#options.idleSeconds;
  }

  #sweepLater(): Timer {
    return this.#options.parts.clock.setTimer(SWEEP_INTERVAL_MS, () => {
      const now = this.#options.tokens.nowSeconds();
      for (const session of this.#sessions.values()) if (session.isExpired(now)) session.end();
      for (const [key, { expiresAt }] of this.#bearers) if (expiresAt <= now) this.#bearers.delete(key);
      this.#sweepTimer = this.#sweepLater();
    });
  }
}

function keyOf(token: string): string {
  return token.slice(-TOKEN_KEY_LENGTH);
}
