import { createHash } from "node:crypto";
import { CodedError, ErrorCode } from "@millrace/errors";
import type { Timer } from "@millrace/platform";
import { CommandSession, type SessionParts } from "../../../virtual/command-session.ts";
import type { Credentials, PasswordCredentials } from "../../../virtual/login-body.ts";

/** A session that no call used for so long is ended; a personal access token then makes a new one. */
const IDLE_MAX_SECONDS = 3600;
/** A member holds partitions that others could read: twelve times the heartbeat of clients, 5 s. */
const MEMBER_IDLE_MAX_SECONDS = 60;
/** How often idle sessions are looked for. */
const SWEEP_INTERVAL_MS = 10_000;
/** Bytes of a token that Login makes: 256 bits of chance. */
const TOKEN_LENGTH = 32;
const MICROS_PER_SECOND = 1_000_000;

/**
 * The sessions behind the tokens of unary calls: one per login, one per personal access token, whichever
 * connection the calls come on. Tokens are kept as their hashes only.
 */
export class UnarySessions {
  readonly #parts: SessionParts;
  readonly #sessionsMax: number;
  readonly #onQuiet: () => void;
  readonly #sessions = new Map<string, CommandSession>();
  readonly #members = new WeakSet<CommandSession>();
  readonly #opening = new Map<string, Promise<CommandSession>>();
  #sweepTimer: Timer;
  #openingCount = 0;
  #isClosed = false;

  /** @param options.onQuiet  called when it is closed and the last session has ended */
  constructor(options: {
    readonly parts: SessionParts;
    readonly sessionsMax: number;
    readonly onQuiet: () => void;
  }) {
    this.#parts = options.parts;
    this.#sessionsMax = options.sessionsMax;
    this.#onQuiet = options.onQuiet;
    this.#sweepTimer = this.#sweepLater();
  }

  /** Logs in and makes a token. @throws CodedError of the refusal; TransientNotAccepted when full */
  async login(
    credentials: PasswordCredentials,
    remoteAddress: string,
  ): Promise<{ readonly userId: number; readonly token: string }> {
    const token = Buffer.from(this.#parts.random.bytes(TOKEN_LENGTH)).toString("base64url");
    const session = await this.#open(keyOf(token), credentials, remoteAddress);
    return { userId: session.userId, token };
  }

  /**
   * The session of a token; a personal access token gets one at its first use.
   * @throws CodedError InvalidPersonalAccessToken for one that is neither; TransientNotAccepted when full
   */
  async find(token: string, remoteAddress: string): Promise<CommandSession> {
    const key = keyOf(token);
    const session =
      this.#sessions.get(key) ?? (await this.#openOnce(key, { token, isBearer: true }, remoteAddress));
    this.#touch(session);
    return session;
  }

  /** From now on the session ends when no call used it for 60 seconds, and its partitions go to others. */
  becomeMember(session: CommandSession): void {
    this.#members.add(session);
    this.#touch(session);
  }

  /** Makes no sessions any more; those that are open end with the broker. */
  close(): void {
    this.#isClosed = true;
    this.#sweepTimer.cancel();
    this.#tellWhenQuiet();
  }

  /** Calls that come while a session is being made wait for the same one. */
  #openOnce(key: string, credentials: Credentials, remoteAddress: string): Promise<CommandSession> {
    let opening = this.#opening.get(key);
    if (opening === undefined) {
      opening = this.#open(key, credentials, remoteAddress).finally(() => this.#opening.delete(key));
      this.#opening.set(key, opening);
    }
    return opening;
  }

  async #open(key: string, credentials: Credentials, remoteAddress: string): Promise<CommandSession> {
    if (this.#isClosed) throw new CodedError(ErrorCode.ShuttingDown);
    if (this.#sessions.size + this.#openingCount >= this.#sessionsMax) {
      const text = "The server has no room for another session of unary calls now.";
      throw new CodedError(ErrorCode.TransientNotAccepted, text);
    }
    const onEnded = (session: CommandSession) => {
      if (this.#sessions.get(key) === session) this.#sessions.delete(key);
      this.#tellWhenQuiet();
    };
    this.#openingCount++;
    const opening = CommandSession.open(this.#parts, credentials, { remoteAddress, onEnded });
    const session = await opening.finally(() => this.#openingCount--);
    if (session.isEnded) return session;
    this.#sessions.set(key, session);
    this.#touch(session);
    return session;
  }

  #touch(session: CommandSession): void {
    const idleMaxSeconds = this.#members.has(session) ? MEMBER_IDLE_MAX_SECONDS : IDLE_MAX_SECONDS;
    session.expiresAt = this.#nowSeconds() + idleMaxSeconds;
  }

  #nowSeconds(): number {
    return Math.floor(this.#parts.clock.wallMicros() / MICROS_PER_SECOND);
  }

  #tellWhenQuiet(): void {
    if (this.#isClosed && this.#sessions.size === 0) this.#onQuiet();
  }

  #sweepLater(): Timer {
    return this.#parts.clock.setTimer(SWEEP_INTERVAL_MS, () => {
      const now = this.#nowSeconds();
      for (const session of this.#sessions.values()) if (session.isExpired(now)) session.end();
      this.#sweepTimer = this.#sweepLater();
    });
  }
}

function keyOf(token: string): string {
  return createHash("sha256").update(token).digest("base64");
}
