import { TransportKind } from "@millrace/platform";
import type { ClientDetails, TransportName } from "@millrace/protocol";
import type { ClientConnection } from "../../sessions/client-connection.ts";

/** Names of transports in replies; connections within the process count as TCP, which clients know. */
const TRANSPORT_NAMES: Readonly<Record<number, TransportName>> = {
  [TransportKind.quic]: "quic",
  [TransportKind.http]: "http",
  [TransportKind.webSocket]: "websocket",
};

/** A connection as replies show it. Consumer groups cannot be joined yet, so it is a member of none. */
export function clientDetails(connection: ClientConnection): ClientDetails {
  return {
    clientId: connection.number,
    userId: connection.session?.user,
    transport: TRANSPORT_NAMES[connection.transport] ?? "tcp",
    address: connection.remoteAddress,
    groupsCount: 0,
    groups: [],
  };
}
