/** A count that only grows. */
export interface Counter {
  add(amount: number): void;
}

/** A value read when metrics are collected. */
export type Gauge = () => number;

/** Where a package declares what it measures, once, in its own `metrics.ts`. */
export interface Metrics {
  /** @param labels  what tells this count from others of its name */
  counter(name: string, help: string, labels?: Readonly<Record<string, string>>): Counter;
  gauge(name: string, help: string, read: Gauge): void;
}

/** Metrics that are counted nowhere. */
export const silentMetrics: Metrics = {
  counter: () => ({ add() {} }),
  gauge() {},
};
