import {
  decodeCreateTopicReply,
  decodeGetTopicReply,
  decodeGetTopicRetentionReply,
  decodeGetTopicsReply,
  encodeCreatePartitions,
  encodeCreateTopic,
  encodeDeletePartitions,
  encodeDeleteSegments,
  encodeDeleteTopic,
  encodeGetTopic,
  encodeGetTopicRetention,
  encodeGetTopics,
  encodePurgeTopic,
  encodeUpdateTopic,
  type PartitionRetention,
  RETENTION_PARTITIONS_MAX,
  type TopicRetention as RetentionRecord,
  type TopicTarget,
  toIdentifier,
} from "@millrace/protocol";
import { checkedU32 } from "../client-options.ts";
import { nothing } from "../connection/requester.ts";
import { type Topic, type TopicDetails, topicDetailsOf, topicOf } from "./catalog-shapes.ts";
import { checkedName } from "./check-length.ts";
import { type TopicRetention, topicRetentionOf } from "./retention-shapes.ts";
import { type Name, StreamCalls } from "./stream-calls.ts";
import { type TopicOptions, topicOptionEntries } from "./topic-options.ts";

/** A topic to create. */
export interface NewTopic extends TopicOptions {
  readonly name: string;
  /** 0 to 1000; default 1. */
  readonly partitionsCount?: number;
}

/** What changes about a topic; options that are left out stay. */
export interface TopicUpdate extends TopicOptions {
  readonly name: string;
}

function target(stream: Name, topic: Name): TopicTarget {
  return { stream: toIdentifier(stream), topic: toIdentifier(topic) };
}

function countOf(stream: Name, topic: Name, partitionsCount: number) {
  return { ...target(stream, topic), partitionsCount: checkedU32("partitionsCount", partitionsCount) };
}

/** Calls about topics, partitions and segments. */
export class TopicCalls extends StreamCalls {
  /**
   * Creates a topic. Throws StreamIdNotFound, TopicNameAlreadyExists, UnsupportedOptionKey,
   * InvalidOptionValue.
   */
  createTopic(stream: Name, topic: NewTopic): Promise<TopicDetails> {
    return this.request({
      command: "CreateTopic",
      body: () =>
        encodeCreateTopic({
          stream: toIdentifier(stream),
          partitionsCount: checkedU32("partitionsCount", topic.partitionsCount ?? 1),
          name: checkedName("topic", topic.name),
          options: topicOptionEntries(topic),
        }),
      decode: (payload) => topicDetailsOf(decodeCreateTopicReply(payload)),
    });
  }

  /** One topic with its partitions, or undefined when stream or topic do not exist. */
  getTopic(stream: Name, topic: Name): Promise<TopicDetails | undefined> {
    return this.request({
      command: "GetTopic",
      body: () => encodeGetTopic(target(stream, topic)),
      decode: (payload) => {
        const record = decodeGetTopicReply(payload);
        return record === undefined ? undefined : topicDetailsOf(record);
      },
    });
  }

  /**
   * What age, size and stored offsets do to the partitions of a topic: what goes next, what is held back and
   * by whom. A command of Millrace; other servers refuse it. Throws StreamIdNotFound, TopicIdNotFound.
   */
  async getTopicRetention(stream: Name, topic: Name): Promise<TopicRetention> {
    const partitions: PartitionRetention[] = [];
    for (let firstPartitionId = 0; ; ) {
      const page = await this.#retentionPage(target(stream, topic), firstPartitionId);
      partitions.push(...page.partitions);
      const last = page.partitions.at(-1);
      if (last === undefined || page.partitions.length < RETENTION_PARTITIONS_MAX)
        return topicRetentionOf(page, partitions);
      firstPartitionId = last.partitionId + 1;
    }
  }

  #retentionPage(place: TopicTarget, firstPartitionId: number): Promise<RetentionRecord> {
    const partitionsCount = RETENTION_PARTITIONS_MAX;
    return this.request({
      command: "GetTopicRetention",
      body: () => encodeGetTopicRetention({ ...place, firstPartitionId, partitionsCount }),
      decode: decodeGetTopicRetentionReply,
    });
  }

  /** The topics of a stream, sorted by id; none when the stream does not exist. */
  getTopics(stream: Name): Promise<readonly Topic[]> {
    return this.request({
      command: "GetTopics",
      body: () => encodeGetTopics({ stream: toIdentifier(stream) }),
      decode: (payload) => decodeGetTopicsReply(payload).map(topicOf),
    });
  }

  /** Changes name and options. Throws TopicIdNotFound, TopicNameAlreadyExists, UnsupportedOptionKey. */
  updateTopic(stream: Name, topic: Name, update: TopicUpdate): Promise<void> {
    const body = () => {
      const options = topicOptionEntries(update);
      const name = checkedName("topic", update.name);
      return encodeUpdateTopic({ ...target(stream, topic), name, options });
    };
    return this.request({ command: "UpdateTopic", body, decode: nothing });
  }

  /** Deletes a topic with everything in it. Throws StreamIdNotFound, TopicIdNotFound. */
  deleteTopic(stream: Name, topic: Name): Promise<void> {
    const body = () => encodeDeleteTopic(target(stream, topic));
    return this.request({ command: "DeleteTopic", body, decode: nothing });
  }

  /** Removes every message of a topic; partitions stay. Throws StreamIdNotFound, TopicIdNotFound. */
  purgeTopic(stream: Name, topic: Name): Promise<void> {
    const body = () => encodePurgeTopic(target(stream, topic));
    return this.request({ command: "PurgeTopic", body, decode: nothing });
  }

  /** Adds 1 to 1000 partitions behind the highest. Keys may lead to other partitions afterwards. */
  createPartitions(stream: Name, topic: Name, partitionsCount: number): Promise<void> {
    const body = () => encodeCreatePartitions(countOf(stream, topic, partitionsCount));
    return this.request({ command: "CreatePartitions", body, decode: nothing });
  }

  /** Removes the 1 to 1000 highest partitions with their messages. */
  deletePartitions(stream: Name, topic: Name, partitionsCount: number): Promise<void> {
    const body = () => encodeDeletePartitions(countOf(stream, topic, partitionsCount));
    return this.request({ command: "DeletePartitions", body, decode: nothing });
  }

  /**
   * Removes the oldest full segments of a partition, at most `segmentsCount`. Nothing to remove is no
   * error.
   */
  deleteSegments(stream: Name, topic: Name, partitionId: number, segmentsCount: number): Promise<void> {
    const body = () =>
      encodeDeleteSegments({
        ...target(stream, topic),
        partitionId: checkedU32("partitionId", partitionId),
        segmentsCount: checkedU32("segmentsCount", segmentsCount),
      });
    return this.request({ command: "DeleteSegments", body, decode: nothing });
  }
}
