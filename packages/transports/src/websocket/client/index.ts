/**
 * The client half of WebSocket for Node, with the package `ws`; browsers have `../browser`.
 *
 * ```ts
 * import { connectWebSocket } from "@millrace/transports/websocket/client";
 *
 * const connection = await connectWebSocket({
 *   host: "127.0.0.1", port: 8092, leases: new HeapLeases(), messageLengthMax: 67_108_864, timeoutMs: 5000,
 * });
 * ```
 *
 * @packageDocumentation
 */
export type { ClientTls } from "../../tls/client-tls.ts";
export { type ConnectWebSocketOptions, connectWebSocket } from "./connect-websocket.ts";
