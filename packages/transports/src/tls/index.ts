/**
 * What all encrypted transports have in common: how a client checks a server, what a listener shows.
 *
 * ```ts
 * import type { ServerTls } from "@millrace/transports/tls";
 * ```
 *
 * @packageDocumentation
 */
export type { ClientTls } from "./client-tls.ts";
export type { ServerTls } from "./server-tls.ts";
