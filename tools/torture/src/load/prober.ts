import type { MillraceClient } from "@millrace/client";
import type { MessageContent } from "../content/message-content.ts";
import type { SentBatches } from "../oracle/sent-batches.ts";
import type { TopicHistory } from "../oracle/topic-history.ts";
import { acceptLoss, type Round } from "./actor.ts";
import { BatchWriter } from "./batch-writer.ts";

/** Writes everywhere once, to see what takes writes. */
export class Prober {
  readonly #stream: string;
  readonly #writers: readonly (readonly [place: string, writer: BatchWriter])[];
  #groupsCount = 0;

  constructor(options: {
    readonly stream: string;
    readonly topics: readonly TopicHistory[];
    readonly sent: SentBatches;
    readonly content: MessageContent;
  }) {
    const { stream, topics, sent, content } = options;
    this.#stream = stream;
    this.#writers = topics.flatMap((topic) =>
      topic.partitions.map(({ partition }) => {
        const choose = () => ({ partition });
        const writer = new BatchWriter({
          name: "prober",
          stream,
          topic,
          sent,
          content,
          inFlightMax: 1,
          choose,
        });
        return [`${topic.name}/${partition}`, writer] as const;
      }),
    );
  }

  /** Writes to every partition and to the metadata. Answers the names of those that had no room. */
  async write(client: MillraceClient, round: Round): Promise<readonly string[]> {
    const full: string[] = [];
    for (const [place, writer] of this.#writers) {
      if (!(await writer.send(client, round).done)) full.push(place);
    }
    if (!(await this.#writeMetadata(client, round))) full.push("the metadata");
    return full;
  }

  /** A group that comes and goes, beside the catalog that is compared. */
  async #writeMetadata(client: MillraceClient, round: Round): Promise<boolean> {
    const [stream, topic] = [this.#stream, "replicated"];
    this.#groupsCount += 1;
    const name = `probe-${this.#groupsCount}`;
    try {
      await client.createConsumerGroup(stream, topic, name);
      await client.deleteConsumerGroup({ stream, topic, group: name });
      return true;
    } catch (error) {
      acceptLoss(error, round, "a group that comes and goes");
      return false;
    }
  }
}
