/**
 * The server half of WebSocket: each binary message is one message of the protocol, header and body.
 * Needs the package `ws`.
 *
 * ```ts
 * import { listenWebSocket } from "@millrace/transports/websocket/server";
 *
 * const listener = await listenWebSocket({
 *   host: "127.0.0.1", port: 0, leases: pool, messageLengthMax: 67_108_864, connectionsMax: 1024, log,
 *   onConnection: (connection) => {
 *     connection.onMessage = (messageLease) => connection.send([messageLease.bytes.slice()]);
 *   },
 * });
 * ```
 *
 * @packageDocumentation
 */
export { type ListenWebSocketOptions, listenWebSocket, type WebSocketListener } from "./listen-websocket.ts";
