import { assert } from "@millrace/errors";
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
 * Names are those of the exposition, `_total` of a counter included; the same name and labels twice are a
 * mistake and throw. A counter shows from its declaration on, with 0.
 */
export function createPrometheusMetrics(): PrometheusMetrics {
  const registry = new Registry();
  const registers = [registry];
  /** Counters that are told apart by labels, by their common name. */
  const families = new Map<string, Counter>();
  const seen = new Set<string>();
  const counts: LateCount[] = [];
  const familyOf = (name: string, help: string, labels: Readonly<Record<string, string>>) => {
    const values = JSON.stringify([name, labels]);
    assert(!seen.has(values), `the counter ${name} is declared once with its labels`);
    seen.add(values);
    const known =
      families.get(name) ?? new Counter({ name, help, registers, labelNames: Object.keys(labels) });
    families.set(name, known);
    return known;
  };
  return {
    contentType: registry.contentType,
    text() {
      for (const count of counts) count.tell();
      return registry.metrics();
    },
    counter(name, help, labels) {
      const counted =
        labels === undefined
          ? new Counter({ name, help, registers })
          : familyOf(name, help, labels).labels(labels);
      counted.inc(0);
      const count = new LateCount(counted);
      counts.push(count);
      return count;
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

/** A counter that is told when somebody reads it: each request adds to some, and telling costs much more. */
class LateCount {
  readonly #counter: { inc(amount: number): void };
  #untold = 0;

  constructor(counter: { inc(amount: number): void }) {
    this.#counter = counter;
  }

  add(amount: number): void {
    assert(amount >= 0, "a counter only grows");
    this.#untold += amount;
  }

  tell(): void {
    this.#counter.inc(this.#untold);
    this.#untold = 0;
  }
}
