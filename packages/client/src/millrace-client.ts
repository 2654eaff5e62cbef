import { CodedError, ErrorCode } from "@millrace/errors";
import { type SendConfirmation as Confirmation, toIdentifier } from "@millrace/protocol";
import { createDefaultPlatform } from "#default-platform";
import { CareCalls } from "./admin/care-calls.ts";
import type { Name } from "./admin/stream-calls.ts";
import {
  checkConsumerOptions,
  checkGroupOptions,
  checkOptions,
  checkProducerOptions,
} from "./check-options.ts";
import { type ClientOptions, type ResolvedOptions, resolveOptions } from "./client-options.ts";
import type { ClientPlatform } from "./client-platform.ts";
import type { ClientEvent, ClientEventListener } from "./connection/client-events.ts";
import { Session } from "./connection/session.ts";
import { parseConnectionString, withHintAtDecoding } from "./connection-string.ts";
import { Consumer, type ConsumerOptions } from "./consumer/consumer.ts";
import { createConsumerParts } from "./consumer/consumer-parts.ts";
import { GroupConsumer, type GroupConsumerOptions } from "./consumer-group/group-consumer.ts";
import { createGroupConsumerParts } from "./consumer-group/group-consumer-parts.ts";
import type { LastUsers } from "./consumer-group/membership.ts";
import { BatchSender } from "./messages/batch-sender.ts";
import { type Message, prepareMessage } from "./messages/message.ts";
import { type PartitionChoice, partitioningOf } from "./messages/partition-choice.ts";
import { type PolledMessages, type PollRequest, pollMessages } from "./messages/poll.ts";
import { PartitionRouter } from "./producer/partition-router.ts";
import { Producer } from "./producer/producer.ts";
import type { ProducerOptions } from "./producer/producer-options.ts";
import { formatServerAddress } from "./server-address.ts";

/**
 * Messages to send as one batch. A message's own key counts for nothing here: `partitioning` places the
 * batch.
 */
export interface SendRequest {
  readonly stream: Name;
  readonly topic: Name;
  /** Default `"balanced"`. A key goes to the server, which places it. */
  readonly partitioning?: PartitionChoice;
  readonly messages: readonly Message[];
}

/** Where a batch was written; its messages got offsets from `baseOffset` on. */
export interface SendConfirmation {
  readonly streamId: number;
  readonly topicId: number;
  readonly partitionId: number;
  readonly baseOffset: bigint;
}

function confirmationOf(confirmation: Confirmation): SendConfirmation {
  return { ...confirmation, baseOffset: BigInt(confirmation.baseOffset) };
}

/** What a program without types may hand over. */
function checkSendRequest(request: SendRequest): void {
  if (Array.isArray(request?.messages)) return;
  const message = "sendMessages takes { stream, topic, messages }; messages is an array.";
  throw new CodedError(ErrorCode.InvalidArgument, message);
}

function madeByNew(): CodedError {
  const message =
    "A client is connected before it is there: const client = await MillraceClient.connect(options).";
  return new CodedError(ErrorCode.InvalidArgument, message);
}

/**
 * A client of a Millrace or Apache Iggy 0.9.0 server: one logged-in connection that is made again when it
 * is lost.
 *
 * Calls may run at once; they share the connection and are pipelined. A call waits for a lost connection up
 * to `requestTimeoutMs`. Reads and catalog changes are repeated over a reconnect, sends too unless
 * `retrySends` is false.
 */
export class MillraceClient extends CareCalls {
  readonly #platform: ClientPlatform;
  readonly #sender: BatchSender;
  readonly #groupUsers: LastUsers = new Map();
  readonly #closables = new Set<{ close(): Promise<void> }>();
  #closing: Promise<void> | undefined;

  private constructor(session: Session, options: ResolvedOptions, platform: ClientPlatform) {
    if (!(session instanceof Session)) throw madeByNew();
    super(session);
    this.#platform = platform;
    this.#sender = new BatchSender(session, platform, options);
  }

  /**
   * Connects and logs in, with options or a connection string such as `iggy://iggy:iggy@127.0.0.1:8090`;
   * `more` adds to the string. Fails at once when no address answers.
   *
   * @throws CodedError CannotEstablishConnection that names `host:port`, InvalidCredentials,
   *         InvalidConnectionString, InvalidArgument that names an option, IncompatibleProtocolVersion,
   *         Aborted
   */
  static async connect(
    target: ClientOptions | string,
    more: Omit<ClientOptions, "address"> = {},
  ): Promise<MillraceClient> {
    const given = typeof target === "string" ? { ...parseConnectionString(target), ...more } : target;
    checkOptions(given);
    const platform = given.platform ?? createDefaultPlatform();
    const options = resolveOptions(given, platform.defaultTransport);
    try {
      return new MillraceClient(await Session.open(options, platform), options, platform);
    } catch (error) {
      throw typeof target === "string" ? withHintAtDecoding(error, given) : error;
    }
  }

  /** Id of the user who is logged in. */
  get userId(): number {
    return this.session.facts.userId;
  }

  /** Version text of the server, for example `0.9.0`. */
  get serverVersion(): string {
    return this.session.facts.serverVersion;
  }

  /** `host:port` of the server in use. */
  get address(): string {
    return formatServerAddress(this.session.address);
  }

  /** False while the connection is being made again, and at the end. */
  get isConnected(): boolean {
    return this.session.isConnected;
  }

  /** Batches that hold memory now; 0 when nothing is in flight. */
  get leasesOut(): number {
    return this.#sender.leasesOut;
  }

  /** Listens to the state of the connection; returns the function that ends it. */
  on(event: ClientEvent, listener: ClientEventListener): () => void {
    return this.session.events.on(event, listener);
  }

  /**
   * Sends messages as one batch and resolves when they are written. No confirmation with no error means:
   * the server had written this batch before the connection was lost, and no longer says where.
   *
   * @throws CodedError of the client's checks, ResourceNotFound when stream, topic or partition do not exist
   */
  async sendMessages(request: SendRequest): Promise<readonly SendConfirmation[]> {
    checkSendRequest(request);
    const nowMicros = this.#platform.clock.wallMicros();
    const partitioning = partitioningOf(request.partitioning);
    const messages = request.messages.map((message) => prepareMessage(message, nowMicros));
    const stream = toIdentifier(request.stream);
    const topic = toIdentifier(request.topic);
    return new Promise((resolve, reject) => {
      this.#sender.send({
        stream,
        topic,
        partitioning,
        messages,
        done: (error, confirmations) =>
          error === undefined ? resolve(confirmations.map(confirmationOf)) : reject(error),
      });
    });
  }

  /** Asks one partition for messages. Throws StreamIdNotFound, TopicIdNotFound, PartitionNotFound. */
  async pollMessages(poll: PollRequest): Promise<PolledMessages> {
    return pollMessages(this.session, poll);
  }

  /**
   * A producer for one topic. Close it, or the client, to send what waits.
   *
   * @throws CodedError InvalidArgument or InvalidIdentifier that names the option
   */
  producer(options: ProducerOptions): Producer {
    checkProducerOptions(options);
    const router = new PartitionRouter(
      async () => (await this.getTopic(options.stream, options.topic))?.partitionsCount,
      this.#platform.clock,
    );
    const producer: Producer = new Producer(options, {
      sender: this.#sender,
      router,
      clock: this.#platform.clock,
      onClosed: () => this.#closables.delete(producer),
    });
    this.#closables.add(producer);
    return producer;
  }

  /**
   * A consumer of one topic. Nothing is read before it is iterated or run.
   *
   * @throws CodedError InvalidArgument or InvalidIdentifier that names the option
   */
  consumer(options: ConsumerOptions): Consumer {
    checkConsumerOptions(options);
    const consumer: Consumer = new Consumer(options, {
      ...createConsumerParts(options, this.session, this, this.#platform),
      onClosed: () => this.#closables.delete(consumer),
    });
    this.#closables.add(consumer);
    return consumer;
  }

  /**
   * A member of a consumer group of one topic. It joins, and creates the group if need be, when it is
   * iterated or run; closing it leaves the group.
   *
   * @throws CodedError InvalidArgument or InvalidIdentifier that names the option
   */
  consumerGroup(options: GroupConsumerOptions): GroupConsumer {
    checkGroupOptions(options);
    const consumer: GroupConsumer = new GroupConsumer(options, {
      ...createGroupConsumerParts(options, {
        ...{ session: this.session, calls: this, platform: this.#platform, lastUsers: this.#groupUsers },
      }),
      onClosed: () => this.#closables.delete(consumer),
    });
    this.#closables.add(consumer);
    return consumer;
  }

  /**
   * Closes producers (their messages are sent first) and consumers (their offsets are stored first), lets
   * calls finish, then closes the connection. Repeatable, and callable from inside a handler.
   *
   * @throws CodedError the first error of a producer or consumer
   */
  close(): Promise<void> {
    if (this.#closing === undefined) {
      this.#closing = this.#close();
      this.#closing.catch(() => {});
    }
    return this.#closing;
  }

  /** Closes at the end of an `await using` block. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    const results = await Promise.allSettled([...this.#closables].map((one) => one.close()));
    await this.session.close();
    const failed = results.find((result) => result.status === "rejected");
    if (failed !== undefined) throw failed.reason;
  }
}
