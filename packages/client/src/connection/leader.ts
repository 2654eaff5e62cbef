import type { Clock } from "@millrace/platform";
import {
  type ClusterMetadata,
  type ClusterNode,
  CommandCode,
  decodeGetClusterMetadataReply,
  Operation,
} from "@millrace/protocol";
import { type ClientTransport, isSameServer, type ServerAddress } from "../server-address.ts";
import type { Link } from "./link.ts";
import { ask, sleep } from "./login.ts";

/**
 * How often a cluster without a known leader is asked again, and for how long; the values of official
 * clients.
 */
const ASK_AGAIN_MS = 250;
const ASK_MAX_MS = 5000;

/** Where a node listens for a transport; 0 when it does not, or when the roster cannot say. */
const PORT_OF: Readonly<Record<ClientTransport, (node: ClusterNode) => number>> = {
  tcp: (node) => node.tcpPort,
  ws: (node) => node.websocketPort,
  grpc: () => 0,
  http: (node) => node.httpPort,
};

/** What the roster says about where to go. */
export interface LeaderFacts {
  /** Where the cluster's nodes listen, as far as the roster says; none for a server that is alone. */
  readonly nodes: readonly ServerAddress[];
  /** Another address to move to; undefined to stay. */
  readonly moveTo: ServerAddress | undefined;
}

async function askRoster(link: Link): Promise<ClusterMetadata | undefined> {
  const request = {
    operation: Operation.NonReplicated,
    code: CommandCode.GetClusterMetadata,
    body: new Uint8Array(0),
  };
  const outcome = await ask(link, request);
  return outcome.code === 0 ? decodeGetClusterMetadataReply(outcome.payload) : undefined;
}

function addressesOf({ nodes }: ClusterMetadata, transport: ClientTransport): ServerAddress[] {
  return nodes
    .map((node) => ({ host: node.ip, port: PORT_OF[transport](node) }))
    .filter(({ port }) => port > 0);
}

/**
 * Asks a server after login where its cluster's leader is. One node, or an error in place of a roster:
 * stay. Without a healthy leader it asks again every 250 ms for 5 s, then stays.
 */
export async function findLeader(
  link: Link,
  clock: Clock,
  current: ServerAddress,
  transport: ClientTransport,
): Promise<LeaderFacts> {
  const giveUpMs = clock.monotonicMs() + ASK_MAX_MS;
  for (;;) {
    const roster = await askRoster(link);
    if (roster === undefined || roster.nodes.length < 2) return { nodes: [], moveTo: undefined };
    const nodes = addressesOf(roster, transport);
    const leader = roster.nodes.find((node) => node.role === "leader" && node.status === "healthy");
    if (leader !== undefined) {
      const port = PORT_OF[transport](leader);
      const address = { host: leader.ip, port };
      const isThere = port === 0 || isSameServer(address, current);
      return { nodes, moveTo: isThere ? undefined : address };
    }
    if (clock.monotonicMs() >= giveUpMs) return { nodes, moveTo: undefined };
    await sleep(clock, ASK_AGAIN_MS);
  }
}
