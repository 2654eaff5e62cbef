/**
 * Carriers of whole messages. Each has a door of its own, client and server halves apart, so that nobody
 * loads what he does not use: `./tcp/server`, `./tcp/client`, `./memory`.
 *
 * ```ts
 * import { createMemoryTransport } from "@millrace/transports/memory";
 * import { connectTcp } from "@millrace/transports/tcp/client";
 * import { listenTcp } from "@millrace/transports/tcp/server";
 * ```
 *
 * @packageDocumentation
 */
export type { Connection, Listener } from "@millrace/platform";
