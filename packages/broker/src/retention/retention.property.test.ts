import assert from "node:assert/strict";
import { test } from "node:test";
import { ByteReader, ByteWriter } from "@millrace/framing";
import { StorageOperation } from "@millrace/storage";
import fc from "fast-check";
import { sendBody } from "../testing/test-batches.ts";
import type { TestClient } from "../testing/test-client.ts";
import { pollBody, polled } from "../testing/test-polls.ts";
import { TestServer } from "../testing/test-server.ts";
import {
  contentsOf,
  createSmallTopic,
  deleteSegmentsBody,
  forgetBody,
  HALF_SEGMENT,
  storeBody,
  updateTopic,
} from "../testing/test-topics.ts";
import { truncatePartition } from "./truncate-partition.ts";
import type { Truncation } from "./truncation.ts";

type Step =
  | { readonly kind: "send"; readonly count: number }
  | { readonly kind: "store"; readonly id: number; readonly part: number }
  | { readonly kind: "forget"; readonly id: number }
  | { readonly kind: "delete"; readonly count: number }
  | { readonly kind: "expire"; readonly afterMs: number }
  | { readonly kind: "wait"; readonly ms: number }
  | { readonly kind: "settle" }
  | { readonly kind: "kill"; readonly ms: number }
  | { readonly kind: "restart" };

const MIB = 1_048_576;
const CONFIG = { messageLengthMax: MIB, messageCleaner: { isEnabled: true, intervalMs: 20 } };

/** One server after another on one disk, and what must hold of all of them. */
class Model {
  server!: TestServer;
  client!: TestClient;
  #earliest = 0;
  #sent = 0;
  #sessions = 0n;
  #pending: Promise<unknown>[] = [];
  /** Stored offsets after every op in the log so far, as its ops say. */
  #offsets = new Map<number, number>();
  truncations = 0;

  async start(seed: number, sizes: Readonly<Record<string, number>> = {}): Promise<void> {
    this.server = await TestServer.start({ seed, diskLatencyMaxMs: 2, config: CONFIG });
    this.client = await this.server.login();
    await this.server.drive(createSmallTopic(this.client, sizes));
    this.#watch();
  }

  async run(step: Step): Promise<void> {
    const { client, server } = this;
    if (step.kind === "send") {
      for (let index = 0; index < step.count; index++) {
        this.#sent += 1;
        this.#ask(client.command("SendMessages", sendBody([HALF_SEGMENT])));
      }
    } else if (step.kind === "store") {
      const offset = Math.floor(this.#sent * step.part);
      this.#ask(client.command("StoreConsumerOffset", storeBody(step.id, offset)));
    } else if (step.kind === "forget") this.#ask(client.command("DeleteConsumerOffset", forgetBody(step.id)));
    else if (step.kind === "delete")
      this.#ask(client.command("DeleteSegments", deleteSegmentsBody(step.count)));
    else if (step.kind === "expire")
      this.#ask(updateTopic(client, { message_expiry: Math.max(1, step.afterMs * 1000) }));
    else if (step.kind === "wait") await server.platform.clock.run(step.ms);
    else if (step.kind === "settle") await this.check();
    else if (step.kind === "kill") {
      await server.platform.clock.run(step.ms);
      await this.#next(server.kill());
    } else {
      await this.#settle();
      await this.#next(await server.stop());
    }
  }

  /** What is served is what is counted, begins at or behind where it began before, and is whole. */
  async check(): Promise<void> {
    await this.#settle();
    const { client, server } = this;
    const contents = () => server.drive(contentsOf(client));
    // The cleaner goes on meanwhile: what is compared is a stretch in which it removed nothing.
    for (let before = await contents(); ; ) {
      const offsets = await this.#readAll();
      const after = await contents();
      const { firstOffset } = server.groupOf(0).openPartition;
      const earliest = Math.min(offsets[0] ?? firstOffset, firstOffset);
      assert.ok(
        earliest >= this.#earliest,
        `the earliest offset goes back: ${this.#earliest} to ${earliest}`,
      );
      this.#earliest = earliest;
      if (after.messages === before.messages) {
        assert.equal(after.messages, offsets.length, "counters tell what can be read");
        return;
      }
      before = after;
    }
  }

  async #readAll(): Promise<number[]> {
    const offsets: number[] = [];
    for (let offset = 0n; ; ) {
      const poll = pollBody({ strategy: { kind: "offset", offset }, count: 1 });
      const { messages } = polled(await this.server.drive(this.client.ok("PollMessages", poll)));
      const [message] = messages;
      if (message === undefined) return offsets;
      offsets.push(message.offset);
      offset = BigInt(message.offset + 1);
    }
  }

  #ask(asked: Promise<unknown>): void {
    this.#pending.push(asked.catch(() => undefined));
  }

  async #settle(): Promise<void> {
    await this.server.drive(Promise.all(this.#pending));
    this.#pending = [];
  }

  async #next(disk: TestServer["platform"]["disk"]): Promise<void> {
    const { clock } = this.server.platform;
    this.#pending = [];
    this.server = await TestServer.start({ disk, clock, config: CONFIG });
    this.#sessions += 1n;
    this.client = await this.server.login(100n + this.#sessions);
    this.#watch();
    await this.check();
  }

  /** Follows the ops of the partition in log order and holds each truncation against the offsets. */
  #watch(): void {
    const { server } = this;
    const partition = server.groupOf(0).openPartition;
    this.#offsets = new Map(partition.acceptedConsumerOffsets().map(({ id, offset }) => [id, offset]));
    const append = partition.appendOperation.bind(partition);
    partition.appendOperation = (header, body, done) => {
      // What a killed server still tries reaches no disk.
      if (this.server === server) this.#note(header.operation, new ByteReader(body));
      append(header, body, done);
    };
  }

  #note(operation: number, body: ByteReader): void {
    if (operation === StorageOperation.truncate) {
      this.#checkBarrier(body.u64Number());
      return;
    }
    body.u8();
    const id = body.u32();
    if (operation === StorageOperation.storeOffset) this.#offsets.set(id, body.u64Number());
    else this.#offsets.delete(id);
  }

  #checkBarrier(upToOffset: number): void {
    if (upToOffset === 0) return;
    this.truncations += 1;
    for (const [id, offset] of this.#offsets) {
      assert.ok(upToOffset - 1 <= offset, `cut up to ${upToOffset} although consumer ${id} is at ${offset}`);
    }
  }
}

const part = fc.double({ min: 0, max: 1, noNaN: true });
const id = fc.integer({ min: 1, max: 3 });
const step = <const Kind extends Step["kind"]>(kind: Kind) => ({ kind: fc.constant(kind) });
const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ ...step("send"), count: fc.integer({ min: 1, max: 6 }) }) },
  { weight: 4, arbitrary: fc.record({ ...step("store"), id, part }) },
  { weight: 2, arbitrary: fc.record({ ...step("forget"), id }) },
  { weight: 4, arbitrary: fc.record({ ...step("delete"), count: fc.integer({ min: 1, max: 4 }) }) },
  { weight: 2, arbitrary: fc.record({ ...step("expire"), afterMs: fc.constantFrom(0, 10, 100, 10_000) }) },
  { weight: 3, arbitrary: fc.record({ ...step("wait"), ms: fc.integer({ min: 1, max: 60 }) }) },
  { weight: 2, arbitrary: fc.record(step("settle")) },
  { weight: 3, arbitrary: fc.record({ ...step("kill"), ms: fc.integer({ min: 0, max: 30 }) }) },
  { weight: 1, arbitrary: fc.record(step("restart")) },
);

test("Whatever is sent, stored, forgotten, deleted, expired and killed: what is gone stays gone, and nothing goes that an offset in the log still needs.", async () => {
  let truncations = 0;
  const property = fc.asyncProperty(
    fc.array(steps, { minLength: 10, maxLength: 25 }),
    fc.integer({ min: 1, max: 1_000_000 }),
    async (list, seed) => {
      const model = new Model();
      await model.start(seed, { max_topic_size: 2 * MIB });
      for (const one of list) await model.run(one);
      await model.check();
      truncations += model.truncations;
      await model.server.stop();
    },
  );
  // A run costs a tenth of a second, so a failure is shown as it was found.
  await fc.assert(property, { numRuns: 20, endOnFailure: true });
  assert.ok(truncations > 10, `the property cut something: ${truncations} times`);
});

test("An offset that is on its way into the log before a removal is respected by it.", async () => {
  const model = new Model();
  await model.start(1);
  await model.run({ kind: "send", count: 8 });
  await model.run({ kind: "store", id: 1, part: 0.99 });
  await model.check();
  const { server } = model;
  const group = server.groupOf(0);
  const body = new ByteWriter().u8(1).u32(1).u64(1).finish();
  const failed = (code: number) => assert.fail(`refused with ${code}`);
  const outcome = { committed() {}, failed };
  const asked = { client: 5n, request: 1n, user: 0, ...outcome };
  group.submit({ ...asked, operation: StorageOperation.storeOffset, body });
  const removed = await server.drive(
    new Promise<Truncation>((resolve) => {
      const order = { kind: "count", segmentsCount: 9, decidedAt: 1 } as const;
      truncatePartition(group, order, { removed: resolve, failed }, server.platform.clock);
    }),
  );
  assert.deepEqual([removed.segmentsCount, removed.messagesCount, removed.firstOffset], [1, 2, 2]);
  assert.equal(group.openPartition.firstOffset, 2);
  await server.stop();
});
