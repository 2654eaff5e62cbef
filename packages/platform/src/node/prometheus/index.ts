/**
 * Metrics that Prometheus reads. Needs the optional peer prom-client; only servers load it.
 *
 * ```ts
 * import { createPrometheusMetrics } from "@millrace/platform/prometheus";
 *
 * const metrics = createPrometheusMetrics();
 * metrics.counter("requests_total", "Requests received").add(1);
 * await metrics.text(); // "# HELP requests_total Requests received ..."
 * ```
 *
 * @packageDocumentation
 */
export { createPrometheusMetrics, type PrometheusMetrics } from "./prometheus-metrics.ts";
