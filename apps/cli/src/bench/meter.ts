import { LatencyHistogram } from "./latency-histogram.ts";
import { ThroughputSeries } from "./throughput-series.ts";

/** What a latency is the latency of. */
export type MeterKind = "send" | "poll" | "block" | "end-to-end";

/** Something that was done; times are milliseconds of the run's clock. */
export interface Done {
  /** When it began to count: when it was due, or when the wait for it began. */
  readonly fromMs: number;
  readonly atMs: number;
  readonly messages: number;
  readonly bytes: number;
}

/** What one actor did, and how long each time took. */
export class Meter {
  readonly name: string;
  readonly latency = new LatencyHistogram();
  messages = 0;
  /** Payload bytes. */
  bytes = 0;
  startMs = Number.POSITIVE_INFINITY;
  endMs = 0;
  readonly #onDone: (done: Done) => void;

  constructor(name: string, onDone: (done: Done) => void) {
    this.name = name;
    this.#onDone = onDone;
  }

  /** Counts messages and the time between the two as a latency. */
  record(done: Done): void {
    this.latency.record((done.atMs - done.fromMs) * 1e6);
    this.count(done);
  }

  /** Counts messages without a latency. */
  count(done: Done): void {
    this.messages += done.messages;
    this.bytes += done.bytes;
    this.startMs = Math.min(this.startMs, done.fromMs);
    this.endMs = Math.max(this.endMs, done.atMs);
    this.#onDone(done);
  }

  /** Seconds from the first to the last; a thousandth at least, so that speeds are numbers. */
  get seconds(): number {
    return this.messages === 0 ? 0 : Math.max(0.001, (this.endMs - this.startMs) / 1_000);
  }
}

/** All actors that do the same. */
export class Role {
  readonly kind: MeterKind;
  readonly actors: Meter[] = [];
  readonly series = new ThroughputSeries();
  readonly #startMs: number;
  readonly #onProgress: () => void;

  /** @param startMs  the zero of its chart; @param onProgress  hears of everything done */
  constructor(kind: MeterKind, startMs: number, onProgress: () => void) {
    this.kind = kind;
    this.#startMs = startMs;
    this.#onProgress = onProgress;
  }

  /** A meter for one more actor. */
  actor(name: string): Meter {
    const meter = new Meter(name, ({ atMs, bytes }) => {
      this.series.record(atMs - this.#startMs, bytes);
      this.#onProgress();
    });
    this.actors.push(meter);
    return meter;
  }

  /** Everything its actors did, as if one had done it. */
  total(): Meter {
    const total = new Meter("total", () => {});
    for (const { latency, messages, bytes, startMs, endMs } of this.actors) {
      total.latency.add(latency);
      total.messages += messages;
      total.bytes += bytes;
      total.startMs = Math.min(total.startMs, startMs);
      total.endMs = Math.max(total.endMs, endMs);
    }
    return total;
  }
}
