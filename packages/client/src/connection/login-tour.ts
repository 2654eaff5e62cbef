import { CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import type { ClusterMetadata } from "@millrace/protocol";
import type { ResolvedOptions } from "../client-options.ts";
import type { ClientPlatform } from "../client-platform.ts";
import { ClusterObserver } from "../cluster-observer.ts";
import { isSameServer, type ServerAddress } from "../server-address.ts";
import { findLeader } from "./leader.ts";
import type { Link, LinkOwner, Transmission } from "./link.ts";
import { type LoginFacts, login, withDeadline } from "./login.ts";
import { LoginWatch, mayPass } from "./login-watch.ts";
import { openLink } from "./open-link.ts";

/**
 * Most moves from node to node in a row before the client stays where it is; the value of official clients.
 */
const REDIRECTS_MAX = 3;

/**
 * How long a login waits for one of several nodes, twice as long in each further round: a node that is cut
 * off from the others takes none, and they may.
 */
const LOGIN_PATIENCE_MS = 5000;

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

/** What a tour is made with. */
export interface LoginTourOptions {
  readonly options: ResolvedOptions;
  readonly platform: ClientPlatform;
  /** Client id, u128; the same wherever it logs in. */
  readonly client: bigint;
  /** See `LoginClaim`. */
  nextNumber?(): number;
  /** Hears of the life of each link that is opened, see `LinkOwner`. */
  ownerOf(link: () => Link): LinkOwner;
}

/** True for an error of a login that may pass by itself. */
export function isPassing(error: unknown): boolean {
  return isCodedError(error) && PASSING.has(error.code);
}

/**
 * The way of one client to a node that logs it in: round the known addresses, on to the leader where a roster
 * names one, and under the same client id everywhere.
 */
export class LoginTour {
  readonly #options: ResolvedOptions;
  readonly #parts: LoginTourOptions;
  readonly #abort = new AbortController();
  #address: ServerAddress;
  #facts: LoginFacts | undefined;
  /** The cluster's nodes, as the last roster had them; none of a server that is alone. */
  #nodes: readonly ServerAddress[] = [];
  /** The link that is being logged in. */
  #opening: Link | undefined;
  /**
   * The link the client moves away from. A server logs out whose connection ends, and what it knows of the
   * client goes with that; so it is closed once the same client is logged in elsewhere.
   */
  #retired: Link | undefined;
  #endError: CodedError | undefined;

  constructor(parts: LoginTourOptions) {
    this.#parts = parts;
    this.#options = parts.options;
    this.#address = parts.options.addresses[0] as ServerAddress;
  }

  /** Address of the last node that logged the client in; before the first one, where the tour begins. */
  get address(): ServerAddress {
    return this.#address;
  }

  /** Who is logged in; of the latest login. */
  get facts(): LoginFacts | undefined {
    return this.#facts;
  }

  /** True when there are other nodes to go to. */
  get isInCluster(): boolean {
    return this.#nodes.length > 0;
  }

  /**
   * Goes round the known addresses while one of several has time to take the login.
   * @throws CodedError of the node that told most; what `end` was given
   */
  async logIn(): Promise<Link> {
    const { clock } = this.#parts.platform;
    const { requestTimeoutMs } = this.#options;
    const endMs = clock.monotonicMs() + requestTimeoutMs;
    for (let patienceMs = LOGIN_PATIENCE_MS; ; patienceMs *= 2) {
      const candidates = this.#candidates();
      const isAlone = candidates.length === 1;
      const loginMs = isAlone ? requestTimeoutMs : Math.min(patienceMs, requestTimeoutMs / candidates.length);
      const { link, error, isUndecided } = await this.#tryEach(candidates, loginMs);
      if (link !== undefined) return link;
      if (isAlone || !isUndecided || clock.monotonicMs() >= endMs) throw error;
    }
  }

  /** The client leaves the node of this link, which stays open until there is another; see `Link.retire`. */
  retire(link: Link): readonly Transmission[] {
    this.closeRetired();
    this.#retired = link;
    return link.retire();
  }

  /** Closes the link that was left; what it did not write yet goes to the new node. */
  closeRetired(): void {
    this.#retired?.close(new CodedError(ErrorCode.Disconnected, "The client has moved."), true);
    this.#retired = undefined;
  }

  /** Gives up what is under way; nothing is opened any more. */
  end(error: CodedError): void {
    this.#endError = error;
    this.#abort.abort(error);
    this.closeRetired();
    this.#opening?.close(error, true);
  }

  /** The first link that is logged in; else why there is none; `isUndecided` when one did not say no. */
  async #tryEach(candidates: readonly ServerAddress[], loginMs: number) {
    let [lastError, isUndecided]: [unknown, boolean] = [undefined, false];
    for (const address of candidates) {
      try {
        return { link: await this.#openLeader(address, loginMs), error: undefined, isUndecided: false };
      } catch (error) {
        if (this.#endError !== undefined || !isPassing(error)) throw error;
        // A node that answers and says why tells more than one that does not answer.
        if (!isCodedError(lastError, ErrorCode.TransientNotAccepted)) lastError = error;
        isUndecided ||= mayPass(error);
      }
    }
    return { link: undefined, error: lastError, isUndecided };
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
      const { link, moveTo } = await this.#openNode(address, loginMs);
      if (moveTo === undefined || redirects === REDIRECTS_MAX) {
        this.#address = address;
        return link;
      }
      this.retire(link);
      address = moveTo;
    }
  }

  /** A link to one node, logged in, and where its cluster's leader is; it is closed when that cannot be. */
  async #openNode(address: ServerAddress, loginMs: number) {
    const link = await this.#open(address);
    this.#opening = link;
    try {
      this.#facts = await this.#login(link, address, loginMs);
      const moveTo = await this.#askLeader(link, address);
      if (this.#endError !== undefined) throw this.#endError;
      if (link.isOpen) return { link, moveTo };
      throw new CodedError(ErrorCode.Disconnected, "The connection was lost during the login.");
    } catch (error) {
      link.close(new CodedError(ErrorCode.Disconnected, "The login failed.", { cause: error }), true);
      throw error;
    } finally {
      this.#opening = undefined;
    }
  }

  async #open(address: ServerAddress): Promise<Link> {
    const { options, platform, client, ownerOf } = this.#parts;
    const { signal } = this.#abort;
    const link = await openLink({ options, platform, client, ownerOf, address, signal });
    if (this.#endError === undefined) return link;
    link.close(this.#endError, true);
    throw this.#endError;
  }

  async #login(link: Link, address: ServerAddress, loginMs: number): Promise<LoginFacts> {
    const { nextNumber, platform } = this.#parts;
    const { clock } = platform;
    const claim = { credentials: this.#options.credentials, ...(nextNumber && { nextNumber }) };
    const deadline = { clock, timeoutMs: loginMs, what: "the login" } as const;
    const watch = new LoginWatch({
      ...{ clock, address, askRoster: () => this.#observedRoster(address) },
      giveUp: (error) => link.close(error, true),
    });
    try {
      return await withDeadline(link, deadline, () => login(link, clock, claim));
    } catch (error) {
      throw watch.explained(error);
    } finally {
      watch.stop();
    }
  }

  /** What a node says of its cluster on a connection of its own. */
  async #observedRoster(address: ServerAddress): Promise<ClusterMetadata> {
    const { options, platform } = this.#parts;
    const observer = await ClusterObserver.at({ address, options, platform, signal: this.#abort.signal });
    try {
      return await observer.getClusterMetadata();
    } finally {
      await observer.close();
    }
  }

  /** Where the leader is, if it is not here. */
  async #askLeader(link: Link, address: ServerAddress): Promise<ServerAddress | undefined> {
    const { clock } = this.#parts.platform;
    const { transport, requestTimeoutMs, followLeader } = this.#options;
    if (!followLeader) return undefined;
    const deadline = { clock, timeoutMs: requestTimeoutMs, what: "the login" } as const;
    const { nodes, moveTo } = await withDeadline(link, deadline, () =>
      findLeader(link, clock, address, transport),
    );
    // A node that cannot say does not make the others unknown.
    if (nodes.length > 0) this.#nodes = nodes;
    return moveTo;
  }
}
