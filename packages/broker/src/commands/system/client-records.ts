import { TransportKind } from "@millrace/platform";
import type { ClientDetails, TransportName } from "@millrace/protocol";
import type { ClientConnection } from "../../sessions/client-connection.ts";
import type { Shard } from "../../shard.ts";

/** Names of transports in replies; connections within the process count as TCP, which clients know. */
const TRANSPORT_NAMES: Readonly<Record<number, TransportName>> = {
  [TransportKind.quic]: "quic",
  [TransportKind.http]: "http",
  [TransportKind.webSocket]: "websocket",
  // The protocol has no byte for gRPC, which is HTTP/2.
  [TransportKind.grpc]: "http",
};

/** A connection as replies show it. */
export function clientDetails(shard: Shard, connection: ClientConnection): ClientDetails {
  const { session } = connection;
  const groups = session === undefined || session.isFenced ? [] : shard.catalog.membershipsOf(session.client);
  return {
    clientId: connection.number,
    userId: session?.user,
    transport: TRANSPORT_NAMES[connection.transport] ?? "tcp",
    address: connection.remoteAddress,
    groupsCount: groups.length,
    groups,
  };
}
