import type { SeededRandom } from "@millrace/testkit";
import type { CatalogOperation, CatalogState } from "../oracle/catalog-state.ts";

/** Bounds that keep the catalog small enough to compare it whole each round. */
const STREAMS_MAX = 6;
const TOPICS_MAX = 4;
const PARTITIONS_MAX = 6;

/** One in this many operations asks for a name that is taken. */
const REFUSED_EVERY = 16;

/** The next operation, or a name that is taken and must be refused. */
export type CatalogChoice =
  | { readonly refused: false; readonly operation: CatalogOperation }
  | { readonly refused: true; readonly stream: string };

/**
 * Chooses an operation that is possible in `state`.
 *
 * @param freshName  gives a name that was never used
 */
export function chooseOperation(
  state: CatalogState,
  random: SeededRandom,
  freshName: () => string,
): CatalogChoice {
  const streams = Object.keys(state);
  if (streams.length === 0)
    return { refused: false, operation: { kind: "create-stream", stream: freshName() } };
  const stream = random.pick(streams);
  if (random.below(REFUSED_EVERY) === 0) return { refused: true, stream };
  const dice = random.below(20);
  if (dice < 2 && streams.length < STREAMS_MAX) {
    return { refused: false, operation: { kind: "create-stream", stream: freshName() } };
  }
  if (dice === 2) return { refused: false, operation: { kind: "rename-stream", stream, to: freshName() } };
  if (dice === 3 && streams.length > 2)
    return { refused: false, operation: { kind: "delete-stream", stream } };
  return { refused: false, operation: chooseTopicOperation(state, stream, random, freshName) };
}

function chooseTopicOperation(
  state: CatalogState,
  stream: string,
  random: SeededRandom,
  freshName: () => string,
): CatalogOperation {
  const topics = state[stream]?.topics ?? {};
  const names = Object.keys(topics);
  const dice = random.below(16);
  if (names.length === 0 || (dice < 3 && names.length < TOPICS_MAX)) {
    return { kind: "create-topic", stream, topic: freshName(), count: 1 + random.below(3) };
  }
  const topic = random.pick(names);
  const partitionsCount = topics[topic]?.partitionsCount ?? 1;
  if (dice === 3) return { kind: "rename-topic", stream, topic, to: freshName() };
  if (dice === 4) return { kind: "delete-topic", stream, topic };
  if (dice === 5) return { kind: "purge-topic", stream, topic };
  if (dice < 9 && partitionsCount < PARTITIONS_MAX) {
    return {
      kind: "create-partitions",
      stream,
      topic,
      count: 1 + random.below(PARTITIONS_MAX - partitionsCount),
    };
  }
  if (dice < 12 && partitionsCount > 1) {
    return { kind: "delete-partitions", stream, topic, count: 1 + random.below(partitionsCount - 1) };
  }
  return { kind: "send-one", stream, topic };
}
