import { type FieldKindName, type FieldValue, fieldKindName, fieldValue } from "@millrace/framing";
import {
  CLUSTER_GROUPS_MAX,
  type ClientDetails,
  type ClientRecord,
  type ClusterGroups,
  type ClusterMetadata,
  decodeDescribeOptionsReply,
  decodeGetClientReply,
  decodeGetClientsReply,
  decodeGetClusterGroupsReply,
  decodeGetClusterMetadataReply,
  decodeGetMeReply,
  decodeGetStatsReply,
  encodeDescribeOptions,
  encodeGetClient,
  encodeGetClusterGroups,
  type OptionDescription,
  type OptionScope,
  toIdentifier,
} from "@millrace/protocol";
import { checkedU32 } from "../client-options.ts";
import { type CommandRequest, nothing, requestCommand } from "../connection/requester.ts";
import type { Session } from "../connection/session.ts";
import { type Stats, statsOf } from "./stats.ts";

/** One option a server knows. Times are micros, sizes bytes. */
export interface KnownOption {
  readonly key: string;
  readonly kind: FieldKindName;
  readonly defaultValue: FieldValue;
  readonly description: string;
}

function knownOptionOf({ key, defaultValue, description }: OptionDescription): KnownOption {
  const kind = fieldKindName(defaultValue.kind) ?? "raw";
  return { key, kind, defaultValue: fieldValue(defaultValue), description };
}

/** A page of the groups of a cluster. */
export interface ClusterGroupsRequest {
  /** `next` of the page before; the beginning by default. */
  readonly after?: ClusterGroups["next"];
  /** Partitions at most; default and most 1000. With 0 only the metadata group. */
  readonly countMax?: number;
  /** Only partitions of this stream; with `topic` only of that one of its topics. */
  readonly stream?: number | string | undefined;
  readonly topic?: number | string | undefined;
}

/** The body that asks for a page of groups. */
export function clusterGroupsBody(page: ClusterGroupsRequest): Uint8Array {
  const { after, countMax = CLUSTER_GROUPS_MAX, stream, topic } = page;
  return encodeGetClusterGroups({
    ...{ after, countMax },
    stream: stream === undefined ? undefined : toIdentifier(stream),
    topic: topic === undefined ? undefined : toIdentifier(topic),
  });
}

/** Calls about the server and its connections; what every other group of calls builds on. */
export class SystemCalls {
  protected readonly session: Session;

  protected constructor(session: Session) {
    this.session = session;
  }

  /** Sends one command; the commands the named calls do not cover go through here too. */
  protected request<T>(request: CommandRequest<T>): Promise<T> {
    return requestCommand(this.session, request);
  }

  /** Resolves when the server answers. */
  ping(): Promise<void> {
    return this.request({ command: "Ping", decode: nothing });
  }

  /** Figures of the server: memory, disk, messages, uptime. Needs permission to read servers. */
  getStats(): Promise<Stats> {
    return this.request({ command: "GetStats", decode: (payload) => statsOf(decodeGetStatsReply(payload)) });
  }

  /** This connection as the server sees it. */
  getMe(): Promise<ClientDetails> {
    return this.request({ command: "GetMe", decode: decodeGetMeReply });
  }

  /** One connection by its number, or undefined when there is none. */
  getClient(clientId: number): Promise<ClientDetails | undefined> {
    return this.request({
      command: "GetClient",
      body: () => encodeGetClient({ clientId: checkedU32("clientId", clientId) }),
      decode: decodeGetClientReply,
    });
  }

  /** Every connection of the server. */
  getClients(): Promise<readonly ClientRecord[]> {
    return this.request({ command: "GetClients", decode: decodeGetClientsReply });
  }

  /** The nodes of the cluster with their addresses; one node for a server alone. */
  getClusterMetadata(): Promise<ClusterMetadata> {
    return this.request({ command: "GetClusterMetadata", decode: decodeGetClusterMetadataReply });
  }

  /**
   * Where each node of a cluster stands in the metadata group and in a page of the partitions' groups; go on
   * with `next` until there is none. Needs permission to read servers.
   * Millrace servers only; others answer InvalidCommand.
   */
  getClusterGroups(page: ClusterGroupsRequest = {}): Promise<ClusterGroups> {
    const body = () => clusterGroupsBody(page);
    return this.request({ command: "GetClusterGroups", body, decode: decodeGetClusterGroupsReply });
  }

  /** The options the server knows for topics, streams or users, with kinds and defaults. */
  describeOptions(scope: OptionScope = "topic"): Promise<readonly KnownOption[]> {
    return this.request({
      command: "DescribeOptions",
      body: () => encodeDescribeOptions({ scope }),
      decode: (payload) => decodeDescribeOptionsReply(payload).map(knownOptionOf),
    });
  }
}
