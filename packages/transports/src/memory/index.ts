/**
 * Connections between parts of one process, for tests, the simulator and embedded use.
 *
 * ```ts
 * import { createMemoryTransport } from "@millrace/transports/memory";
 *
 * const transport = createMemoryTransport();
 * transport.listen((connection) => {
 *   connection.onMessage = (messageLease) => connection.send([messageLease.bytes.slice()]);
 * });
 * const client = transport.connect();
 * ```
 *
 * @packageDocumentation
 */
export {
  createMemoryTransport,
  type MemoryTransport,
  type MemoryTransportOptions,
} from "./memory-transport.ts";
