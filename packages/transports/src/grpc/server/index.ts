/**
 * The server half of gRPC: the bidirectional stream `Exchange` of `millrace.proto` carries the messages of
 * the binary protocol, the unary calls are one command each. Needs the packages `@grpc/grpc-js` and
 * `@bufbuild/protobuf`.
 *
 * ```ts
 * import { listenGrpc } from "@millrace/transports/grpc/server";
 *
 * const listener = await listenGrpc({
 *   host: "127.0.0.1", port: 8093, leases: pool, messageLengthMax: 67_108_864, connectionsMax: 1024, log,
 *   onConnection: (connection) => {
 *     connection.onMessage = (messageLease) => connection.send([messageLease.bytes.slice()]);
 *   },
 * });
 * ```
 *
 * @packageDocumentation
 */

export { type GrpcListener, type ListenGrpcOptions, listenGrpc } from "./listen-grpc.ts";
export type { UnaryOptions } from "./unary/unary-service.ts";
