/**
 * The client half of HTTP: the binary protocol's requests as requests of the HTTP API. In Node; needs the
 * package `lossless-json`.
 *
 * ```ts
 * import { HeapLeases } from "@millrace/framing";
 * import { connectHttp } from "@millrace/transports/http/client";
 *
 * const connection = await connectHttp({
 *   host: "127.0.0.1", port: 3000, leases: new HeapLeases(), messageLengthMax: 67_108_864, timeoutMs: 5000,
 * });
 * ```
 *
 * @packageDocumentation
 */
export type { ClientTls } from "../../tls/client-tls.ts";
export { type ConnectHttpOptions, connectHttp } from "./connect-http.ts";
