/**
 * The server half of HTTP: a JSON API whose every route is a binary command to the broker.
 *
 * ```ts
 * import { listenHttp } from "@millrace/transports/http/server";
 *
 * const http = await listenHttp({
 *   host: "127.0.0.1", port: 3000, onConnection: (connection) => broker.onConnection(connection),
 *   kernel, leases: pool, clock, random, log, metrics, jwt, socketsMax: 1024, sessionsMax: 4096,
 *   bodyLengthMax: 2_000_000, view: () => 0, durabilityOf: () => "replicated", optionChecks,
 *   version: "0.1.0",
 * });
 * await http.close();
 * ```
 *
 * It is not in the published package: the server brings it in its bundle, and what it needs with it.
 *
 * @packageDocumentation
 */
export type { JwtOptions, TrustedIssuer } from "./access/jwt-options.ts";
export type { CorsOptions, ListenHttpOptions, MetricsPage } from "./http-options.ts";
export { type HttpListener, listenHttp } from "./listen-http.ts";
export type { OptionChecks } from "./routes/option-faults.ts";
