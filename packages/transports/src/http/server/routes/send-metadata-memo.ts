import { encodeSendMetadata, type Partitioning } from "@millrace/protocol";
import type { RouteCall } from "./route.ts";
import { topicOf } from "./targets.ts";

/** Some hundred topics that clients write to at the same time; about 1.5 KB each at the most. */
const ENTRIES_MAX = 256;

/**
 * The encoded metadata of sends that say the same: most clients write to few topics over and over.
 *
 * What it saves is a tenth of the main thread's work for a single message. Sends by key are encoded each
 * time, since most keys come once.
 */
export class SendMetadataMemo {
  readonly #known = new Map<string, Uint8Array>();

  /** Metadata for a send of `count` messages to the topic of the path; shared, never written. */
  metadataOf(call: RouteCall, partitioning: Partitioning, count: number): Uint8Array {
    if (partitioning.kind === "key") return encode(call, partitioning, count);
    const { stream_id: stream = "", topic_id: topic = "" } = call.path;
    const partition = partitioning.kind === "partition" ? partitioning.partitionId : "";
    const key = `${count},${partition},${stream.length},${stream}${topic}`;
    let metadata = this.#known.get(key);
    if (metadata === undefined) {
      metadata = encode(call, partitioning, count);
      if (this.#known.size >= ENTRIES_MAX) this.#known.clear();
      this.#known.set(key, metadata);
    }
    return metadata;
  }
}

function encode(call: RouteCall, partitioning: Partitioning, messagesCount: number): Uint8Array {
  return encodeSendMetadata({ ...topicOf(call), partitioning, messagesCount });
}
