import { Counter, Gauge, Registry } from "prom-client";
import type { Metrics } from "../../metrics.ts";

/** Metrics with a text to read them by. */
export interface PrometheusMetrics extends Metrics {
  /** What `text` is, for the header of an answer. */
  readonly contentType: string;
  /** Every metric with its value now, in the text form of Prometheus. */
  text(): Promise<string>;
}

/**
 * Metrics in a registry of their own. Gauges are read when the text is made.
 *
 * Names are those of the exposition, `_total` of a counter included; the same name twice is a mistake and
 * throws. A counter shows from its declaration on, with 0.
 */
export function createPrometheusMetrics(): PrometheusMetrics {
  const registry = new Registry();
  const registers = [registry];
  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    counter(name, help, labels) {
      const counter = new Counter({ name, help, registers, labelNames: Object.keys(labels ?? {}) });
      const counted = labels === undefined ? counter : counter.labels(labels);
      counted.inc(0);
      return { add: (amount) => counted.inc(amount) };
    },
    gauge(name, help, read) {
      new Gauge({
        name,
        help,
        registers,
        collect() {
          this.set(read());
        },
      });
    },
  };
}
