import { ErrorCode, isCodedError } from "@millrace/errors";
import type { Client } from "../connection/client.ts";
import type { BenchPlan } from "./plan.ts";

/** A topic that the run made for itself. */
export interface CreatedTopic {
  readonly stream: string;
  readonly topic: string;
}

/** The streams of one run: made by it under names that nobody else has, and deleted by it. */
export class BenchTopics {
  readonly #client: Pick<Client, "createStream" | "createTopic" | "deleteStream">;
  readonly #streams = new Set<string>();

  constructor(client: Pick<Client, "createStream" | "createTopic" | "deleteStream">) {
    this.#client = client;
  }

  /**
   * Makes the streams and topics of a plan, in the order of its places.
   *
   * @param tag  makes the names this run's own
   * @throws CodedError of the server; what was made until then is deleted by `remove`
   */
  async create(plan: BenchPlan, tag: string): Promise<CreatedTopic[]> {
    const made: CreatedTopic[] = [];
    for (const place of plan.places) {
      const stream = `bench-${tag}-${place.stream + 1}`;
      const topic = `topic-${place.topic + 1}`;
      if (!this.#streams.has(stream)) await this.#createStream(stream);
      await this.#client.createTopic(stream, {
        name: topic,
        partitionsCount: plan.partitions,
        ...(plan.durability !== undefined && { durability: plan.durability }),
      });
      made.push({ stream, topic });
    }
    return made;
  }

  /**
   * Deletes every stream that `create` made, and no other.
   *
   * @throws the first error, once all were tried
   */
  async remove(): Promise<void> {
    const streams = [...this.#streams];
    const results = await Promise.allSettled(streams.map((stream) => this.#deleteStream(stream)));
    const failed = results.find((result) => result.status === "rejected");
    if (failed !== undefined) throw failed.reason;
  }

  /** Streams that are still there. */
  get left(): readonly string[] {
    return [...this.#streams];
  }

  /** A reply that got lost may stand for a stream that was made, a name that is taken does not. */
  async #createStream(stream: string): Promise<void> {
    this.#streams.add(stream);
    try {
      await this.#client.createStream(stream);
    } catch (error) {
      if (isCodedError(error, ErrorCode.StreamNameAlreadyExists)) this.#streams.delete(stream);
      throw error;
    }
  }

  async #deleteStream(stream: string): Promise<void> {
    try {
      await this.#client.deleteStream(stream);
    } catch (error) {
      const isGone =
        isCodedError(error, ErrorCode.StreamNameNotFound) || isCodedError(error, ErrorCode.ResourceNotFound);
      if (!isGone) throw error;
    }
    this.#streams.delete(stream);
  }
}
