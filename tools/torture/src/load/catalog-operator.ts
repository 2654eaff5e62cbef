import { ErrorCode, isCodedError, type MillraceClient } from "@millrace/client";
import type { CatalogHistory } from "../oracle/catalog-history.ts";
import type { CatalogOperation } from "../oracle/catalog-state.ts";
import { asViolation, Violation } from "../oracle/violation.ts";
import { type Actor, acceptLoss, OneConnection, type Round } from "./actor.ts";
import { chooseOperation } from "./catalog-choice.ts";

/** How a client that lives through the crash comes back: soon, and for as long as restarting may take. */
const COME_BACK = { retries: 1000, intervalMs: 20, delayMaxMs: 100 };
const COME_BACK_MS = 60_000;

/**
 * Changes the catalog, one operation after the other. In every second round its client lives through the
 * crash and repeats the unanswered operation under its old number, which must take effect exactly once.
 */
export class CatalogOperator implements Actor {
  readonly name = "catalog-operator";
  readonly history: CatalogHistory;
  #nameCount = 0;
  #unsettled: Promise<void> = Promise.resolve();

  constructor(history: CatalogHistory) {
    this.history = history;
  }

  async run(round: Round): Promise<void> {
    if (round.number % 2 === 0) {
      return new OneConnection({ name: this.name, work: (client) => this.#operate(client, round) }).run(
        round,
      );
    }
    let client: MillraceClient;
    try {
      client = await round.connect({ reconnect: COME_BACK, requestTimeoutMs: COME_BACK_MS });
    } catch (error) {
      return acceptLoss(error, round, this.name);
    }
    this.#unsettled = this.#operate(client, round)
      .catch((error: unknown) => acceptLoss(error, round, `${this.name}, repeated after the restart,`))
      .finally(() => client.close().catch(() => {}));
    this.#unsettled.catch((error: unknown) => round.fail(asViolation(error)));
  }

  /** Resolves when the client that lived through the crash has its answer. Rejects with a Violation. */
  settle(): Promise<void> {
    return this.#unsettled;
  }

  async #operate(client: MillraceClient, round: Round): Promise<void> {
    while (!round.isOver) {
      const choice = chooseOperation(this.history.state, round.random, () => this.#freshName());
      if (choice.refused) await this.#expectRefusal(client, choice.stream);
      else {
        this.history.attempt(choice.operation);
        await execute(client, choice.operation);
        this.history.acknowledge();
      }
    }
  }

  #freshName(): string {
    this.#nameCount += 1;
    return `n${this.#nameCount}`;
  }

  async #expectRefusal(client: MillraceClient, stream: string): Promise<void> {
    try {
      await client.createStream(stream);
    } catch (error) {
      if (isCodedError(error, ErrorCode.StreamNameAlreadyExists)) return;
      throw error;
    }
    throw new Violation("catalog", `a second stream ${stream} was created`);
  }
}

/** Sends one operation and resolves with its success. Throws what the client throws. */
async function execute(client: MillraceClient, operation: CatalogOperation): Promise<void> {
  const { stream } = operation;
  if (operation.kind === "create-stream") await client.createStream(stream);
  else if (operation.kind === "rename-stream") await client.updateStream(stream, { name: operation.to });
  else if (operation.kind === "delete-stream") await client.deleteStream(stream);
  else await executeOnTopic(client, operation);
}

type TopicOperation = Extract<CatalogOperation, { readonly topic: string }>;

async function executeOnTopic(client: MillraceClient, operation: TopicOperation): Promise<void> {
  const { stream, topic } = operation;
  switch (operation.kind) {
    case "create-topic":
      await client.createTopic(stream, { name: topic, partitionsCount: operation.count });
      return;
    case "rename-topic":
      return client.updateTopic(stream, topic, { name: operation.to });
    case "delete-topic":
      return client.deleteTopic(stream, topic);
    case "purge-topic":
      return client.purgeTopic(stream, topic);
    case "create-partitions":
      return client.createPartitions(stream, topic, operation.count);
    case "delete-partitions":
      return client.deletePartitions(stream, topic, operation.count);
    case "send-one": {
      const messages = [{ payload: "one" }];
      await client.sendMessages({ stream, topic, partitioning: { partition: 0 }, messages });
    }
  }
}
