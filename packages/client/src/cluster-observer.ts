import { CodedError, ErrorCode } from "@millrace/errors";
import {
  type ClusterGroups,
  type ClusterMetadata,
  decodeGetClusterGroupsReply,
  decodeGetClusterMetadataReply,
} from "@millrace/protocol";
import { createDefaultPlatform } from "#default-platform";
import { type ClusterGroupsRequest, clusterGroupsBody } from "./admin/system-calls.ts";
import { checkOptions } from "./check-options.ts";
import { type ClientOptions, type ResolvedOptions, resolveOptions } from "./client-options.ts";
import type { ClientPlatform } from "./client-platform.ts";
import { NO_BYTES } from "./connection/call.ts";
import type { Link } from "./connection/link.ts";
import { withDeadline } from "./connection/login.ts";
import { openLink, randomClientId } from "./connection/open-link.ts";
import { type ReadAsked, readWithoutLogin } from "./connection/without-login.ts";
import { formatServerAddress, type ServerAddress } from "./server-address.ts";

/** What an answer may take: a node asks the others for a second at most. */
const ANSWER_MAX_MS = 5000;

/** One node, and how it is reached. */
export interface ObservedNode {
  readonly address: ServerAddress;
  readonly options: ResolvedOptions;
  readonly platform: ClientPlatform;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Looks at a cluster through one of its nodes without being logged in, for a login takes a majority of the
 * nodes. Whoever looks brings his credentials along, and the node checks them by what it knows itself.
 *
 * Millrace clusters only: servers of others, and those that stand alone, refuse with Unauthenticated,
 * InvalidCommand or FeatureUnavailable. A node that its cluster has not taken in yet, or
 * that is too busy to check who asks, answers TransientNotAccepted. Over TCP, WebSocket and gRPC.
 */
export class ClusterObserver {
  readonly #link: Link;
  readonly #node: Omit<ObservedNode, "signal">;

  private constructor(link: Link, node: Omit<ObservedNode, "signal">) {
    this.#link = link;
    this.#node = node;
  }

  /**
   * Connects to the first address that answers; the signal ends what is asked later, too.
   * @throws CodedError CannotEstablishConnection and others
   */
  static async connect(given: ClientOptions): Promise<ClusterObserver> {
    checkOptions(given);
    const platform = given.platform ?? createDefaultPlatform();
    const options = resolveOptions(given, platform.defaultTransport);
    let lastError: unknown;
    for (const address of options.addresses) {
      try {
        return await ClusterObserver.at({ address, options, platform, signal: options.signal });
      } catch (error) {
        lastError = error;
      }
    }
    throw lastError;
  }

  /** Connects to one node. @throws CodedError */
  static async at(node: ObservedNode): Promise<ClusterObserver> {
    const { signal = new AbortController().signal, ...parts } = node;
    let onAbort = () => {};
    const link = await openLink({
      ...{ ...parts, client: randomClientId(parts.platform), signal },
      ownerOf: () => ({
        onWritable: () => {},
        onLost: () => signal.removeEventListener("abort", onAbort),
      }),
    });
    onAbort = () => link.close(abortedError(), true);
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    return new ClusterObserver(link, parts);
  }

  /** `host:port` of the node that is asked. */
  get address(): string {
    return formatServerAddress(this.#node.address);
  }

  /** The nodes as this one sees them. */
  getClusterMetadata(): Promise<ClusterMetadata> {
    return this.#ask({
      command: "GetClusterMetadata",
      body: NO_BYTES,
      decode: decodeGetClusterMetadataReply,
    });
  }

  /** See `getClusterGroups` of the client; nodes that this one does not reach have no standing. */
  getClusterGroups(page: ClusterGroupsRequest = {}): Promise<ClusterGroups> {
    const body = clusterGroupsBody(page);
    return this.#ask({ command: "GetClusterGroups", body, decode: decodeGetClusterGroupsReply });
  }

  /** Closes the connection. Repeatable. */
  async close(): Promise<void> {
    this.#link.close(new CodedError(ErrorCode.ClientShutdown, "The observer is closed."), false);
  }

  #ask<T>(read: ReadAsked<T>): Promise<T> {
    const { address, options, platform } = this.#node;
    const who = { credentials: options.credentials, address };
    const deadline = {
      ...{ clock: platform.clock, timeoutMs: ANSWER_MAX_MS },
      what: "its answer about the cluster",
    } as const;
    return withDeadline(this.#link, deadline, () => readWithoutLogin(this.#link, who, read));
  }
}

function abortedError(): CodedError {
  return new CodedError(ErrorCode.Aborted, "The abort signal ended the observer.");
}
