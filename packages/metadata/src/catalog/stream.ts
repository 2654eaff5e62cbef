import type { NamedSet, NamedSetView } from "./named-set.ts";
import type { Topic } from "./topic.ts";

/** One stream. A later op replaces the object, so look it up again rather than keep it. */
export interface Stream {
  readonly id: number;
  readonly name: string;
  /** Microseconds since the epoch. */
  readonly createdAt: number;
  /** Op that created it. */
  readonly revision: number;
  readonly topics: NamedSetView<Topic>;
}

/** A stream inside this package: its topics can change. */
export interface StreamEntry extends Stream {
  readonly topics: NamedSet<Topic>;
}
