/**
 * The client half of gRPC: one call of `Exchange` is one connection. Needs the package `@grpc/grpc-js`.
 *
 * ```ts
 * import { connectGrpc } from "@millrace/transports/grpc/client";
 *
 * const connection = await connectGrpc({
 *   host: "127.0.0.1", port: 8093, leases: new HeapLeases(), messageLengthMax: 67_108_864, timeoutMs: 5000,
 * });
 * ```
 *
 * @packageDocumentation
 */
export type { ClientTls } from "../../tls/client-tls.ts";
export { type ConnectGrpcOptions, connectGrpc } from "./connect-grpc.ts";
