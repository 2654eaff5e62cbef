/**
 * The client half of WebSocket over the runtime's own `WebSocket`, as browsers have it; no Node built-in.
 *
 * ```ts
 * import { connectBrowserWebSocket } from "@millrace/transports/websocket/browser";
 *
 * const connection = await connectBrowserWebSocket({
 *   host: "127.0.0.1", port: 8092, leases: new HeapLeases(), messageLengthMax: 67_108_864, timeoutMs: 5000,
 * });
 * ```
 *
 * @packageDocumentation
 */
export {
  type ConnectBrowserWebSocketOptions,
  connectBrowserWebSocket,
} from "./connect-browser-websocket.ts";
