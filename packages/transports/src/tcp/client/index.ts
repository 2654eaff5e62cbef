/**
 * The client half of TCP.
 *
 * ```ts
 * import { HeapLeases } from "@millrace/framing";
 * import { connectTcp } from "@millrace/transports/tcp/client";
 *
 * const connection = await connectTcp({
 *   host: "127.0.0.1", port: 8090, leases: new HeapLeases(), messageLengthMax: 67_108_864, timeoutMs: 5000,
 * });
 * connection.onMessage = (messageLease) => {};
 * connection.send([header, body]);
 * ```
 *
 * @packageDocumentation
 */
export type { ClientTls } from "../../tls/client-tls.ts";
export { type ConnectTcpOptions, connectTcp } from "./connect-tcp.ts";
