import type { MillraceClient } from "@millrace/client";
import type { CatalogState, StreamState, TopicState } from "../oracle/catalog-state.ts";

/** The catalog a server shows, without the stream named `except`. */
export async function readCatalog(client: MillraceClient, except: string): Promise<CatalogState> {
  const state: Record<string, StreamState> = {};
  for (const { id, name } of await client.getStreams()) {
    if (name === except) continue;
    const topics: Record<string, TopicState> = {};
    for (const topic of await client.getTopics(name)) {
      topics[topic.name] = {
        id: topic.id,
        partitionsCount: topic.partitionsCount,
        messagesCount: Number(topic.messagesCount),
      };
    }
    state[name] = { id, topics };
  }
  return state;
}
