/** A topic as the model knows it. */
export interface TopicState {
  readonly id: number;
  readonly partitionsCount: number;
  /** Messages in all its partitions. */
  readonly messagesCount: number;
}

/** A stream and its topics by name. */
export interface StreamState {
  readonly id: number;
  readonly topics: Readonly<Record<string, TopicState>>;
}

/** Streams by name. Never changed in place. */
export type CatalogState = Readonly<Record<string, StreamState>>;

/** One operation on the catalog. Streams and topics go by name. */
export type CatalogOperation =
  | { readonly kind: "create-stream"; readonly stream: string }
  | { readonly kind: "rename-stream"; readonly stream: string; readonly to: string }
  | { readonly kind: "delete-stream"; readonly stream: string }
  | { readonly kind: "create-topic"; readonly stream: string; readonly topic: string; readonly count: number }
  | { readonly kind: "rename-topic"; readonly stream: string; readonly topic: string; readonly to: string }
  | { readonly kind: "delete-topic"; readonly stream: string; readonly topic: string }
  | { readonly kind: "purge-topic"; readonly stream: string; readonly topic: string }
  | {
      readonly kind: "create-partitions";
      readonly stream: string;
      readonly topic: string;
      readonly count: number;
    }
  | {
      readonly kind: "delete-partitions";
      readonly stream: string;
      readonly topic: string;
      readonly count: number;
    }
  /** One message into partition 0. */
  | { readonly kind: "send-one"; readonly stream: string; readonly topic: string };

function lowestFree(taken: readonly number[]): number {
  const set = new Set(taken);
  let id = 0;
  while (set.has(id)) id += 1;
  return id;
}

function without<T>(record: Readonly<Record<string, T>>, key: string): Record<string, T> {
  const { [key]: _gone, ...rest } = record;
  return rest;
}

function applyToTopics(topics: StreamState["topics"], operation: CatalogOperation): StreamState["topics"] {
  if (!("topic" in operation)) return topics;
  const name = operation.topic;
  if (operation.kind === "create-topic") {
    const id = lowestFree(Object.values(topics).map((topic) => topic.id));
    return { ...topics, [name]: { id, partitionsCount: operation.count, messagesCount: 0 } };
  }
  const topic = topics[name] as TopicState;
  switch (operation.kind) {
    case "rename-topic":
      return { ...without(topics, name), [operation.to]: topic };
    case "delete-topic":
      return without(topics, name);
    case "purge-topic":
      return { ...topics, [name]: { ...topic, messagesCount: 0 } };
    case "create-partitions":
      return { ...topics, [name]: { ...topic, partitionsCount: topic.partitionsCount + operation.count } };
    case "delete-partitions":
      return { ...topics, [name]: { ...topic, partitionsCount: topic.partitionsCount - operation.count } };
    case "send-one":
      return { ...topics, [name]: { ...topic, messagesCount: topic.messagesCount + 1 } };
  }
}

/**
 * The catalog after an operation that is possible in `state`. Ids follow the server's rule: the lowest free
 * one.
 *
 * @param otherIds  ids of streams outside the model
 */
export function applyOperation(
  state: CatalogState,
  operation: CatalogOperation,
  otherIds: readonly number[],
): CatalogState {
  const name = operation.stream;
  if (operation.kind === "create-stream") {
    const id = lowestFree([...otherIds, ...Object.values(state).map((stream) => stream.id)]);
    return { ...state, [name]: { id, topics: {} } };
  }
  const stream = state[name] as StreamState;
  if (operation.kind === "rename-stream") return { ...without(state, name), [operation.to]: stream };
  if (operation.kind === "delete-stream") return without(state, name);
  return { ...state, [name]: { ...stream, topics: applyToTopics(stream.topics, operation) } };
}

/** One line per stream and topic, sorted: equal texts are equal catalogs. */
export function catalogLines(state: CatalogState): string[] {
  const lines: string[] = [];
  for (const [streamName, stream] of Object.entries(state)) {
    lines.push(`stream ${streamName} id ${stream.id}`);
    for (const [name, { id, partitionsCount, messagesCount }] of Object.entries(stream.topics)) {
      lines.push(
        `topic ${streamName}/${name} id ${id} partitions ${partitionsCount} messages ${messagesCount}`,
      );
    }
  }
  return lines.sort();
}
