import { CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import type { Timer } from "@millrace/platform";
import { CommandCode, Operation } from "@millrace/protocol";
import type { ResolvedOptions } from "../client-options.ts";
import type { ClientPlatform } from "../client-platform.ts";
import { formatServerAddress, type ServerAddress } from "../server-address.ts";
import { backOffDelayMs } from "./back-off.ts";
import { type Call, NO_BYTES } from "./call.ts";
import { ClientEvents } from "./client-events.ts";
import { withWhatToCheck } from "./first-contact.ts";
import type { Link, Transmission } from "./link.ts";
import type { LoginFacts } from "./login.ts";
import { isPassing, LoginTour } from "./login-tour.ts";
import { randomClientId } from "./open-link.ts";
import { RequestQueue } from "./request-queue.ts";

/** Longest time between two looks at deadlines and heartbeat. */
const TICK_MAX_MS = 500;

type State = "connecting" | "ready" | "reconnecting" | "ended";

/**
 * A registered client across connections: one random client id for life, one running request counter, and a
 * logged-in link under the request queue, which a `LoginTour` brings. Nothing it does on its own ever becomes
 * an unhandled rejection.
 */
export class Session {
  readonly events: ClientEvents;
  readonly #options: ResolvedOptions;
  readonly #platform: ClientPlatform;
  readonly #tour: LoginTour;
  readonly #queue: RequestQueue;
  readonly #onAbort = () => this.#end(abortedError());
  #state: State = "connecting";
  #link: Link | undefined;
  #endError: CodedError | undefined;
  #isClosing = false;
  #isPinging = false;
  #tickTimer: Timer | undefined;
  #onIdle: (() => void) | undefined;
  #wake: (() => void) | undefined;

  private constructor(options: ResolvedOptions, platform: ClientPlatform) {
    this.#options = options;
    this.#platform = platform;
    this.events = new ClientEvents((event, facts) => platform.publish(event, facts));
    const knowsRepetitions = options.transport !== "http";
    this.#queue = new RequestQueue({
      clock: platform.clock,
      inFlightMax: options.inFlightMax,
      requestTimeoutMs: options.requestTimeoutMs,
      knowsRepetitions,
      onNotAccepted: () => this.#leaveRefusingNode(),
      onIdle: () => this.#noteIdle(),
    });
    this.#tour = new LoginTour({
      ...{ options, platform, client: randomClientId(platform) },
      // No link has the queue while one is logged in: what was sent before is below this number.
      ...(knowsRepetitions ? { nextNumber: () => this.#queue.nextNumber } : {}),
      ownerOf: (own) => ({
        onWritable: () => this.#queue.pump(),
        onLost: (error, unanswered) => this.#onLost(own(), error, unanswered),
      }),
    });
  }

  /**
   * Connects and logs in. Fails at once, without back-off, when no address answers: a wrong address shows
   * itself.
   *
   * @throws CodedError CannotEstablishConnection that names `host:port`, InvalidCredentials, Aborted and
   *         others
   */
  static async open(options: ResolvedOptions, platform: ClientPlatform): Promise<Session> {
    if (options.signal?.aborted === true) throw abortedError();
    const session = new Session(options, platform);
    options.signal?.addEventListener("abort", session.#onAbort, { once: true });
    try {
      session.#adopt(await session.#tour.logIn());
    } catch (error) {
      const { transport, tls } = options;
      const to = { address: session.address, transport, isEncrypted: tls !== undefined };
      session.#end(withWhatToCheck(asCoded(error), to));
      throw session.#endError ?? error;
    }
    session.#tick();
    return session;
  }

  /** Who is logged in; of the latest login. */
  get facts(): LoginFacts {
    return this.#tour.facts as LoginFacts;
  }

  /** Address of the server in use, or of the last one. */
  get address(): ServerAddress {
    return this.#tour.address;
  }

  /** True while there is a logged-in connection. */
  get isConnected(): boolean {
    return this.#state === "ready";
  }

  /** Why the client ended, once it has. */
  get endError(): CodedError | undefined {
    return this.#endError;
  }

  /** Takes one call; see `Call.done` for how it ends. */
  execute(call: Call): void {
    const refusal = this.#endError ?? (this.#isClosing ? closedError() : undefined);
    if (refusal !== undefined) call.done(refusal, NO_BYTES);
    else this.#queue.add(call);
  }

  /**
   * Takes no more calls, lets what was asked for finish while there is a connection, then closes. Repeatable.
   */
  async close(): Promise<void> {
    this.#isClosing = true;
    if (this.#state === "ready" && this.#queue.length > 0) {
      await new Promise<void>((resolve) => {
        const before = this.#onIdle;
        this.#onIdle = () => {
          before?.();
          resolve();
        };
      });
    }
    if (this.#options.transport === "http") await this.#logout();
    this.#end(closedError());
  }

  /** Ends the session on the server, which elsewhere the end of the connection does. Never rejects. */
  async #logout(): Promise<void> {
    if (this.#state !== "ready") return;
    await new Promise<void>((resolve) => {
      this.#queue.add({
        kind: "read",
        operation: Operation.Logout,
        code: CommandCode.LogoutUser,
        body: [],
        repeatAfterLoss: false,
        // Whoever cannot log out is forgotten when the token expires.
        done: () => resolve(),
      });
    });
  }

  /** @throws CodedError when the session ended, or the link was lost, before it came here */
  #adopt(link: Link): void {
    if (this.#endError !== undefined) {
      link.close(this.#endError, true);
      throw this.#endError;
    }
    if (!link.isOpen)
      throw new CodedError(ErrorCode.Disconnected, "The connection was lost after the login.");
    this.#link = link;
    this.#state = "ready";
    this.#tour.closeRetired();
    link.lastSentMs = this.#platform.clock.monotonicMs();
    this.events.emit("connected", { address: formatServerAddress(this.address) });
    this.#queue.attach(link);
  }

  #onLost(link: Link, error: CodedError, unanswered: readonly Transmission[]): void {
    if (this.#link !== link) return;
    this.#link = undefined;
    if (this.#state !== "ready") return;
    this.#state = "reconnecting";
    this.events.emit("disconnected", { address: formatServerAddress(this.address), error });
    this.#queue.detach(unanswered, error);
    this.#noteIdle();
    void this.#reconnect(error);
  }

  /** Never rejects: whatever happens ends in a link or in the end of the session. */
  async #reconnect(cause: CodedError): Promise<void> {
    const { reconnect } = this.#options;
    let lastError = cause;
    for (let attempt = 1; attempt <= reconnect.retries; attempt += 1) {
      const delayMs = backOffDelayMs(reconnect, attempt, this.#platform.random.fraction());
      const address = formatServerAddress(this.address);
      // Whoever hears an event may end the client.
      if (this.#endError === undefined) this.events.emit("reconnecting", { address, attempt, delayMs });
      if (this.#endError === undefined) await this.#pause(delayMs);
      if (this.#endError !== undefined) return;
      try {
        return this.#adopt(await this.#tour.logIn());
      } catch (error) {
        lastError = asCoded(error);
        if (!isPassing(error)) break;
      }
    }
    this.#end(lastError);
  }

  /** Waits, unless the session ends first. */
  #pause(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.#platform.clock.setTimer(delayMs, resolve);
      this.#wake = () => {
        timer.cancel();
        resolve();
      };
    });
  }

  #leaveRefusingNode(): boolean {
    const link = this.#link;
    if (!this.#tour.isInCluster || link === undefined) return false;
    const message = "The node did not accept requests for 2 s; the client looks for the leader.";
    const error = new CodedError(ErrorCode.TransientNotAccepted, message);
    // Afterwards: the queue is about to note the request that was refused.
    void Promise.resolve().then(() => {
      if (this.#link === link && link.isOpen) this.#onLost(link, error, this.#tour.retire(link));
    });
    return true;
  }

  #tick(): void {
    if (this.#endError !== undefined) return;
    const { requestTimeoutMs, heartbeatIntervalMs } = this.#options;
    this.#queue.expire(() => this.#giveUpLink());
    this.#noteIdle();
    if (this.#endError !== undefined) return;
    const idleMs = this.#platform.clock.monotonicMs() - (this.#link?.lastSentMs ?? 0);
    if (this.#state === "ready" && heartbeatIntervalMs > 0 && idleMs >= heartbeatIntervalMs) this.#ping();
    const tickMs = Math.min(TICK_MAX_MS, requestTimeoutMs / 20, heartbeatIntervalMs / 4 || TICK_MAX_MS);
    this.#tickTimer = this.#platform.clock.setTimer(Math.max(1, tickMs), () => this.#tick());
  }

  /** Whoever hears that his request ran out of time is to find a client without a connection. */
  #giveUpLink(): void {
    const link = this.#link;
    if (link === undefined) return;
    const message = `The server did not answer within ${this.#options.requestTimeoutMs} ms; the connection was given up.`;
    const error = new CodedError(ErrorCode.RequestTimeout, message);
    const unanswered = link.retire();
    link.close(error, true);
    this.#onLost(link, error, unanswered);
  }

  /** One at a time: while the connection takes nothing, a second one would only wait beside the first. */
  #ping(): void {
    if (this.#isPinging) return;
    this.#isPinging = true;
    this.#queue.add({
      kind: "read",
      operation: Operation.NonReplicated,
      code: CommandCode.Ping,
      body: [],
      repeatAfterLoss: false,
      // A heartbeat that fails shows as a lost link, which is handled where links are lost.
      done: () => {
        this.#isPinging = false;
      },
    });
  }

  #noteIdle(): void {
    if (this.#state === "ready" && this.#queue.length > 0) return;
    const onIdle = this.#onIdle;
    this.#onIdle = undefined;
    onIdle?.();
  }

  #end(error: CodedError): void {
    if (this.#endError !== undefined) return;
    const wasConnected = this.#state === "ready";
    this.#endError = error;
    this.#state = "ended";
    this.#tickTimer?.cancel();
    this.#wake?.();
    this.#options.signal?.removeEventListener("abort", this.#onAbort);
    this.#tour.end(error);
    this.#link?.close(error, !isCodedError(error, ErrorCode.ClientShutdown));
    this.#queue.failAll(error);
    this.#noteIdle();
    if (wasConnected) this.events.emit("disconnected", { address: formatServerAddress(this.address), error });
  }
}

function closedError(): CodedError {
  return new CodedError(ErrorCode.ClientShutdown, "The client is closed; connect a new one.");
}

function abortedError(): CodedError {
  return new CodedError(ErrorCode.Aborted, "The abort signal ended the client.");
}

function asCoded(error: unknown): CodedError {
  if (isCodedError(error)) return error;
  return new CodedError(ErrorCode.Error, "Connecting failed for a reason of the program's own.", {
    cause: error,
  });
}
