/**
 * The server half of TCP: a listener whose connections hand over whole messages as leases.
 *
 * ```ts
 * import { listenTcp } from "@millrace/transports/tcp/server";
 *
 * const listener = await listenTcp({
 *   host: "127.0.0.1", port: 0, leases: pool, messageLengthMax: 67_108_864, connectionsMax: 1024, log,
 *   onConnection: (connection) => {
 *     connection.onMessage = (messageLease) => connection.send([messageLease.bytes.slice()]);
 *   },
 * });
 * ```
 *
 * @packageDocumentation
 */

export { onreadWorks } from "../../listening/onread-socket.ts";
export { type ListenTcpOptions, listenTcp, type TcpListener } from "./listen-tcp.ts";
