import { CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import type { Timer } from "@millrace/platform";
import { type ClusterMetadata, CommandCode, Operation } from "@millrace/protocol";
import type { ResolvedOptions } from "../client-options.ts";
import type { ClientPlatform } from "../client-platform.ts";
import { ClusterObserver } from "../cluster-observer.ts";
import { formatServerAddress, isSameServer, type ServerAddress } from "../server-address.ts";
import { backOffDelayMs } from "./back-off.ts";
import { type Call, NO_BYTES } from "./call.ts";
import { ClientEvents } from "./client-events.ts";
import { withWhatToCheck } from "./first-contact.ts";
import { findLeader } from "./leader.ts";
import type { Link, Transmission } from "./link.ts";
import { type LoginFacts, login, withDeadline } from "./login.ts";
import { LoginWatch, mayPass } from "./login-watch.ts";
import { openLink, randomClientId } from "./open-link.ts";
import { RequestQueue } from "./request-queue.ts";

/**
 * Most moves from node to node in a row before the client stays where it is; the value of official clients.
 */
const REDIRECTS_MAX = 3;

/**
 * How long a login waits for one of several nodes, twice as long in each further round: a node that is cut
 * off from the others takes none, and they may.
 */
const LOGIN_PATIENCE_MS = 5000;

/** Longest time between two looks at deadlines and heartbeat. */
const TICK_MAX_MS = 500;

/** Errors of a login that may pass by themselves; every other one ends the client. */
const PASSING: ReadonlySet<number> = new Set<number>([
  ErrorCode.Disconnected,
  ErrorCode.CannotEstablishConnection,
  ErrorCode.TcpError,
  ErrorCode.ConnectionClosed,
  ErrorCode.RequestTimeout,
  ErrorCode.TransientNotAccepted,
  ErrorCode.TransientNotCommitted,
  ErrorCode.StaleClient,
  ErrorCode.ShuttingDown,
  ErrorCode.TooManyConnections,
]);

type State = "connecting" | "ready" | "reconnecting" | "ended";

/**
 * A registered client across connections: one random client id for life, one running request counter, and
 * the work of keeping a logged-in link under the request queue. Nothing it does on its own ever becomes an
 * unhandled rejection.
 */
export class Session {
  readonly events: ClientEvents;
  readonly #options: ResolvedOptions;
  readonly #platform: ClientPlatform;
  readonly #client: bigint;
  readonly #queue: RequestQueue;
  readonly #abort = new AbortController();
  readonly #onAbort = () => this.#end(abortedError());
  #state: State = "connecting";
  #link: Link | undefined;
  /**
   * The link the client moves away from. A server logs out whose connection ends, and what it knows of the
   * client goes with that; so it is closed once the same client is logged in elsewhere.
   */
  #retired: Link | undefined;
  #address: ServerAddress;
  #facts: LoginFacts | undefined;
  /** The cluster's nodes, as the last roster had them; none of a server that is alone. */
  #nodes: readonly ServerAddress[] = [];
  #endError: CodedError | undefined;
  #tickTimer: Timer | undefined;
  #onIdle: (() => void) | undefined;
  #wake: (() => void) | undefined;

  private constructor(options: ResolvedOptions, platform: ClientPlatform) {
    this.#options = options;
    this.#platform = platform;
    this.#address = options.addresses[0] as ServerAddress;
    this.#client = randomClientId(platform);
    this.events = new ClientEvents((event, facts) => platform.publish(event, facts));
    this.#queue = new RequestQueue({
      clock: platform.clock,
      inFlightMax: options.inFlightMax,
      requestTimeoutMs: options.requestTimeoutMs,
      knowsRepetitions: options.transport !== "http",
      onNotAccepted: () => this.#leaveRefusingNode(),
      onIdle: () => this.#noteIdle(),
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
      await session.#establish();
    } catch (error) {
      const { transport, tls } = options;
      const to = { address: session.#address, transport, isEncrypted: tls !== undefined };
      session.#end(withWhatToCheck(asCoded(error), to));
      throw session.#endError ?? error;
    }
    session.#tick();
    return session;
  }

  /** Who is logged in; of the latest login. */
  get facts(): LoginFacts {
    return this.#facts as LoginFacts;
  }

  /** Address of the server in use, or of the last one. */
  get address(): ServerAddress {
    return this.#address;
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
    if (this.#endError !== undefined) call.done(this.#endError, NO_BYTES);
    else this.#queue.add(call);
  }

  /** Lets what was asked for finish while there is a connection, then closes. Repeatable. */
  async close(): Promise<void> {
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
    this.#end(new CodedError(ErrorCode.ClientShutdown, "The client is closed; connect a new one."));
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

  /** Goes round the known addresses while one of several has time to take the login. */
  async #establish(): Promise<void> {
    const { clock } = this.#platform;
    const { requestTimeoutMs } = this.#options;
    const endMs = clock.monotonicMs() + requestTimeoutMs;
    for (let patienceMs = LOGIN_PATIENCE_MS; ; patienceMs *= 2) {
      const candidates = this.#candidates();
      const isAlone = candidates.length === 1;
      const loginMs = isAlone ? requestTimeoutMs : Math.min(patienceMs, requestTimeoutMs / candidates.length);
      const { error, isUndecided } = await this.#tryEach(candidates, loginMs);
      if (error === undefined) return;
      if (isAlone || !isUndecided || clock.monotonicMs() >= endMs) throw error;
    }
  }

  /** Why no address took the login, if none did; `isUndecided` when one did not say no. */
  async #tryEach(candidates: readonly ServerAddress[], loginMs: number) {
    let [lastError, isUndecided]: [unknown, boolean] = [undefined, false];
    for (const address of candidates) {
      try {
        this.#adopt(await this.#openLeader(address, loginMs));
        return { error: undefined, isUndecided: false };
      } catch (error) {
        if (this.#endError !== undefined || !isPassing(error)) throw error;
        // A node that answers and says why tells more than one that does not answer.
        if (!isCodedError(lastError, ErrorCode.TransientNotAccepted)) lastError = error;
        isUndecided ||= mayPass(error);
      }
    }
    return { error: lastError, isUndecided };
  }

  /** Every known address once: the last good one, those that were given, those of the roster. */
  #candidates(): ServerAddress[] {
    const known: ServerAddress[] = [];
    for (const address of [this.#address, ...this.#options.addresses, ...this.#nodes]) {
      if (!known.some((one) => isSameServer(one, address))) known.push(address);
    }
    return known;
  }

  async #openLeader(first: ServerAddress, loginMs: number): Promise<Link> {
    let address = first;
    for (let redirects = 0; ; redirects += 1) {
      const link = await this.#openLink(address, loginMs);
      const { clock } = this.#platform;
      const leader = await withDeadline(link, clock, this.#options.requestTimeoutMs, () =>
        findLeader(link, clock, address, this.#options.transport),
      );
      // A node that cannot say does not make the others unknown.
      if (leader.nodes.length > 0) this.#nodes = leader.nodes;
      if (leader.moveTo === undefined || redirects === REDIRECTS_MAX) {
        this.#address = address;
        return link;
      }
      this.#retire(link);
      address = leader.moveTo;
    }
  }

  async #openLink(address: ServerAddress, loginMs: number): Promise<Link> {
    const link = await openLink({
      ...{ platform: this.#platform, options: this.#options, address, client: this.#client },
      signal: this.#abort.signal,
      ownerOf: (own) => ({
        onWritable: () => this.#queue.pump(),
        onLost: (error, unanswered) => this.#onLost(own(), error, unanswered),
      }),
    });
    if (this.#endError !== undefined) {
      link.close(this.#endError, true);
      throw this.#endError;
    }
    this.#link = link;
    this.#facts = await this.#login(link, address, loginMs);
    return link;
  }

  async #login(link: Link, address: ServerAddress, loginMs: number): Promise<LoginFacts> {
    const { clock } = this.#platform;
    const { credentials } = this.#options;
    const watch = new LoginWatch({
      ...{ clock, address, askRoster: () => this.#observedRoster(address) },
      giveUp: (error) => link.close(error, true),
    });
    try {
      return await withDeadline(link, clock, loginMs, () => login(link, clock, credentials));
    } catch (error) {
      throw watch.explained(error);
    } finally {
      watch.stop();
    }
  }

  /** What a node says of its cluster on a connection of its own. */
  async #observedRoster(address: ServerAddress): Promise<ClusterMetadata> {
    const parts = { address, options: this.#options, platform: this.#platform };
    const observer = await ClusterObserver.at({ ...parts, signal: this.#abort.signal });
    try {
      return await observer.getClusterMetadata();
    } finally {
      await observer.close();
    }
  }

  #adopt(link: Link): void {
    if (this.#endError !== undefined) throw this.#endError;
    if (!link.isOpen)
      throw new CodedError(ErrorCode.Disconnected, "The connection was lost during the login.");
    this.#state = "ready";
    this.#closeRetired();
    link.lastSentMs = this.#platform.clock.monotonicMs();
    this.events.emit("connected", { address: formatServerAddress(this.#address) });
    this.#queue.attach(link);
  }

  #onLost(link: Link, error: CodedError, unanswered: readonly Transmission[]): void {
    if (this.#link !== link) return;
    this.#link = undefined;
    if (this.#state !== "ready") return;
    this.#state = "reconnecting";
    this.events.emit("disconnected", { address: formatServerAddress(this.#address), error });
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
      const address = formatServerAddress(this.#address);
      this.events.emit("reconnecting", { address, attempt, delayMs });
      await this.#pause(delayMs);
      if (this.#endError !== undefined) return;
      try {
        return await this.#establish();
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
    if (this.#nodes.length === 0 || link === undefined) return false;
    const message = "The node did not accept requests for 2 s; the client looks for the leader.";
    const error = new CodedError(ErrorCode.TransientNotAccepted, message);
    // Afterwards: the queue is about to note the request that was refused.
    void Promise.resolve().then(() => {
      if (this.#link === link && link.isOpen) this.#onLost(link, error, this.#retire(link));
    });
    return true;
  }

  #retire(link: Link): readonly Transmission[] {
    this.#closeRetired();
    this.#retired = link;
    return link.retire();
  }

  #closeRetired(): void {
    this.#retired?.close(new CodedError(ErrorCode.Disconnected, "The client has moved."), false);
    this.#retired = undefined;
  }

  #tick(): void {
    if (this.#endError !== undefined) return;
    const { requestTimeoutMs, heartbeatIntervalMs } = this.#options;
    if (this.#queue.expire()) {
      const message = `The server did not answer within ${requestTimeoutMs} ms; the connection was given up.`;
      this.#link?.close(new CodedError(ErrorCode.RequestTimeout, message), true);
    }
    this.#noteIdle();
    const idleMs = this.#platform.clock.monotonicMs() - (this.#link?.lastSentMs ?? 0);
    if (this.#state === "ready" && heartbeatIntervalMs > 0 && idleMs >= heartbeatIntervalMs) this.#ping();
    const tickMs = Math.min(TICK_MAX_MS, requestTimeoutMs / 20, heartbeatIntervalMs / 4 || TICK_MAX_MS);
    this.#tickTimer = this.#platform.clock.setTimer(Math.max(1, tickMs), () => this.#tick());
  }

  #ping(): void {
    this.#queue.add({
      kind: "read",
      operation: Operation.NonReplicated,
      code: CommandCode.Ping,
      body: [],
      repeatAfterLoss: false,
      // A heartbeat that fails shows as a lost link, which is handled where links are lost.
      done: () => {},
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
    this.#abort.abort(error);
    this.#closeRetired();
    this.#link?.close(error, !isCodedError(error, ErrorCode.ClientShutdown));
    this.#queue.failAll(error);
    this.#noteIdle();
    if (wasConnected)
      this.events.emit("disconnected", { address: formatServerAddress(this.#address), error });
  }
}

function abortedError(): CodedError {
  return new CodedError(ErrorCode.Aborted, "The abort signal ended the client.");
}

function isPassing(error: unknown): boolean {
  return isCodedError(error) && PASSING.has(error.code);
}

function asCoded(error: unknown): CodedError {
  if (isCodedError(error)) return error;
  return new CodedError(ErrorCode.Error, "Connecting failed for a reason of the program's own.", {
    cause: error,
  });
}
