import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ErrorCode, isCodedError } from "@millrace/errors";
import { SimDisk } from "@millrace/platform/sim";
import fc from "fast-check";
import { Bench, type Seen } from "./partition-fixture.test.ts";

type Step =
  | { readonly kind: "append"; readonly lengths: readonly number[] }
  | { readonly kind: "burst"; readonly lengths: readonly number[] }
  | { readonly kind: "store"; readonly id: number; readonly part: number }
  | { readonly kind: "delete"; readonly id: number }
  | { readonly kind: "truncate"; readonly part: number }
  | { readonly kind: "purge" }
  | { readonly kind: "settle" }
  | { readonly kind: "read"; readonly part: number; readonly count: number; readonly lengthMax: number }
  | { readonly kind: "reopen" }
  | { readonly kind: "crash"; readonly turns: number };

/**
 * One op as it was handed in, in op order: what the partition must be after it is the fold of all up to it.
 */
type Sent =
  | { readonly kind: "batch"; readonly base: number; readonly texts: readonly string[] }
  | { readonly kind: "store"; readonly id: number; readonly offset: number }
  | { readonly kind: "delete"; readonly id: number }
  | { readonly kind: "truncate"; readonly mark: number }
  | { readonly kind: "purge" };

interface Expected {
  readonly messages: Seen[];
  readonly offsets: Map<number, number>;
  readonly mark: number;
  readonly generation: number;
}

function fold(sent: readonly Sent[]): Expected {
  let expected: Expected = { messages: [], offsets: new Map(), mark: 0, generation: 0 };
  for (const op of sent) {
    if (op.kind === "batch") {
      for (const [at, text] of op.texts.entries()) expected.messages.push({ offset: op.base + at, text });
    } else if (op.kind === "store") expected.offsets.set(op.id, op.offset);
    else if (op.kind === "delete") expected.offsets.delete(op.id);
    else if (op.kind === "truncate") expected = { ...expected, mark: Math.max(expected.mark, op.mark) };
    else expected = { messages: [], offsets: new Map(), mark: 0, generation: expected.generation + 1 };
  }
  return expected;
}

/** What the topic promises to keep, and what happens to it. */
type Ordeal = "kill" | "power, persisted" | "power, offsets persisted";

/** A partition and the list of what was sent to it. */
class Model {
  readonly bench: Bench;
  readonly ordeal: Ordeal;
  sent: Sent[] = [];
  ackedOp = 0;
  /** Last acknowledged op that must survive; all before it must too. */
  safeOp = 0;
  /** The partition takes no more writes: the power failed on a topic that is not protected from it. */
  isOver = false;
  #earliest = { generation: 0, offset: 0 };
  #texts = 0;
  #pending: Promise<void>[] = [];
  /** Highest offset whose message was acknowledged, by generation. */
  readonly #ackedEnd = new Map<number, number>();

  constructor(bench: Bench, ordeal: Ordeal) {
    this.bench = bench;
    this.ordeal = ordeal;
  }

  async run(step: Step): Promise<void> {
    const { bench } = this;
    const { partition } = bench;
    switch (step.kind) {
      case "append":
        this.#append(step.lengths);
        return;
      case "burst":
        for (const length of step.lengths) this.#append([length]);
        return;
      case "store": {
        const offset = Math.floor(partition.nextOffset * step.part);
        this.#track({ kind: "store", id: step.id, offset }, bench.storeOffset(1, step.id, offset));
        return;
      }
      case "delete":
        this.#track({ kind: "delete", id: step.id }, bench.deleteOffset(1, step.id));
        return;
      case "truncate": {
        const mark = Math.floor(partition.nextOffset * step.part);
        this.#track({ kind: "truncate", mark }, bench.truncate(mark));
        return;
      }
      case "purge":
        this.#track({ kind: "purge" }, bench.purge());
        return;
      case "settle":
        await this.settle();
        return this.check();
      case "read":
        await this.settle();
        return this.#checkRead(step);
      case "reopen":
        await this.settle();
        await bench.reopen();
        assert.equal(bench.partition.lastOp, this.sent.length);
        return this.check();
      case "crash":
        return this.#crash(step.turns);
    }
  }

  #append(lengths: readonly number[]): void {
    const { partition } = this.bench;
    const texts = lengths.map((length) => `${this.#texts++}:`.padEnd(length, "."));
    const base = partition.nextOffset;
    const generation = partition.purgeGeneration;
    assert.ok(base >= (this.#ackedEnd.get(generation) ?? 0), "an acknowledged offset is never given again");
    const acked = () => void this.#ackedEnd.set(generation, base + texts.length);
    this.#track({ kind: "batch", base, texts }, this.bench.append(texts), acked);
  }

  #track(op: Sent, done: Promise<unknown>, onAcked = () => {}): void {
    this.sent.push(op);
    const number = this.sent.length;
    assert.equal(this.bench.partition.lastOp, number);
    const settled = done.then(
      () => {
        assert.equal(this.ackedOp, number - 1, "acknowledgements come in op order");
        this.ackedOp = number;
        if (this.ordeal !== "power, offsets persisted" || op.kind !== "batch") this.safeOp = number;
        onAcked();
      },
      () => undefined,
    );
    this.#pending.push(settled);
  }

  async settle(): Promise<void> {
    await Promise.all(this.#pending);
    this.#pending = [];
  }

  async #crash(turns: number): Promise<void> {
    for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
    const { bench } = this;
    bench.disk = this.ordeal === "kill" ? bench.disk.kill() : bench.disk.crash();
    await this.settle();
    await bench.abandon();
    await bench.open();
    if (this.ordeal === "power, offsets persisted" && bench.partition.fault !== undefined) {
      return this.#endInDamage();
    }
    assert.equal(bench.partition.fault, undefined, "a crash damages nothing");
    assert.ok(bench.partition.lastOp >= this.safeOp, "every op that is promised to survive is there");
    assert.ok(bench.partition.lastOp <= this.sent.length);
    this.sent = this.sent.slice(0, bench.partition.lastOp);
    this.ackedOp = this.sent.length;
    this.safeOp = this.sent.length;
    if (this.ordeal === "power, offsets persisted") this.#ackedEnd.clear();
    await this.check();
  }

  /**
   * Power loss may leave out what was not synced before something that it left: that is told, and no more.
   */
  async #endInDamage(): Promise<void> {
    const { bench } = this;
    this.isOver = true;
    assert.ok(isCodedError(bench.partition.fault, ErrorCode.PartitionDamaged));
    const safe = fold(this.sent.slice(0, this.safeOp));
    if (bench.partition.purgeGeneration !== safe.generation) return;
    for (const message of safe.messages.filter(({ offset }) => offset >= bench.partition.firstOffset))
      assert.deepEqual(await bench.read(message.offset, 1), [message], "what was synced is served");
  }

  #expected(): Expected {
    const expected = fold(this.sent);
    const { firstOffset, purgeGeneration } = this.bench.partition;
    assert.equal(purgeGeneration, expected.generation);
    if (this.#earliest.generation !== purgeGeneration)
      this.#earliest = { generation: purgeGeneration, offset: 0 };
    assert.ok(firstOffset >= this.#earliest.offset, "the earliest offset never moves back");
    this.#earliest.offset = firstOffset;
    const kept = expected.messages.filter(({ offset }) => offset >= firstOffset);
    const gone = expected.messages.length - kept.length;
    const last = expected.messages[gone - 1];
    if (last !== undefined) assert.ok(last.offset < expected.mark, "only what lies below the mark is gone");
    return { ...expected, messages: kept };
  }

  async check(): Promise<void> {
    const { bench } = this;
    const expected = this.#expected();
    assert.deepEqual(await bench.readAll(), expected.messages);
    assert.equal(bench.partition.messageCount, expected.messages.length);
    assert.equal(bench.partition.consumerOffsetIds(1).length, expected.offsets.size);
    for (const [id, offset] of expected.offsets) assert.equal(bench.partition.consumerOffset(1, id), offset);
  }

  async #checkRead(step: Extract<Step, { kind: "read" }>): Promise<void> {
    const { messages } = this.#expected();
    const from = Math.floor(this.bench.partition.nextOffset * step.part);
    const behind = messages.filter(({ offset }) => offset >= from);
    const read = this.bench.read(from, step.count, step.lengthMax);
    const firstLength = 256 + 48 + (behind[0]?.text.length ?? 0);
    if (step.count > 0 && behind.length > 0 && firstLength > step.lengthMax) {
      await assert.rejects(read, { name: "FrameTooLarge" });
      return;
    }
    const seen = await read;
    assert.deepEqual(seen, behind.slice(0, seen.length));
    assert.ok(seen.length <= step.count);
    if (step.count > 0 && behind.length > 0) assert.ok(seen.length > 0, "a consumer makes progress");
    if (step.lengthMax >= 100_000) assert.equal(seen.length, Math.min(step.count, behind.length));
  }
}

const part = fc.double({ min: 0, max: 1, noNaN: true });
const id = fc.integer({ min: 1, max: 4 });
const stepArbitrary: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constant("append" as const),
      lengths: fc.array(fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 20_000 })), {
        minLength: 1,
        maxLength: 4,
      }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("burst" as const),
      lengths: fc.array(fc.integer({ min: 1, max: 2000 }), { minLength: 2, maxLength: 10 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("store" as const), id, part }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("delete" as const), id }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("truncate" as const), part }) },
  { weight: 1, arbitrary: fc.constant({ kind: "purge" as const }) },
  { weight: 2, arbitrary: fc.constant({ kind: "settle" as const }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("read" as const),
      part,
      count: fc.integer({ min: 0, max: 12 }),
      lengthMax: fc.constantFrom(300, 400, 1000, 30_000, 1_000_000),
    }),
  },
  { weight: 2, arbitrary: fc.constant({ kind: "reopen" as const }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant("crash" as const), turns: fc.integer({ min: 0, max: 30 }) }),
  },
);

async function holds(
  steps: readonly Step[],
  setting: { seed: number; tailLengthMax: number; segmentLengthMax: number; ordeal: Ordeal },
): Promise<void> {
  const bench = new Bench({
    tailLengthMax: setting.tailLengthMax,
    segmentLengthMax: setting.segmentLengthMax,
    disk: new SimDisk({ seed: setting.seed }),
    durability: setting.ordeal === "power, persisted" ? "persisted" : "replicated",
    offsetDurability: setting.ordeal === "kill" ? "replicated" : "persisted",
  });
  await bench.open();
  const model = new Model(bench, setting.ordeal);
  for (const step of steps) if (!model.isOver) await model.run(step);
  await model.settle();
  if (!model.isOver) await model.check();
  await bench.close();
}

const settings = {
  seed: fc.integer(),
  tailLengthMax: fc.constantFrom(0, 3000, 1_000_000),
  segmentLengthMax: fc.constantFrom(1, 2000, 20_000),
};

const titles: Readonly<Record<Ordeal, string>> = {
  kill: "has every acknowledged op after any kill",
  "power, persisted": "has every acknowledged op of a persisted topic after any power loss",
  "power, offsets persisted": "has every persisted offset, and all before it, after any power loss",
};

describe("a partition against a list of what was sent", () => {
  for (const [ordeal, title] of Object.entries(titles)) {
    it(title, async () => {
      const property = fc.asyncProperty(
        fc.array(stepArbitrary, { maxLength: 40 }),
        fc.record(settings),
        (steps, setting) => holds(steps, { ...setting, ordeal: ordeal as Ordeal }),
      );
      await fc.assert(property, { numRuns: 60 });
    });
  }

  it("serves nothing wrong after a power loss that a topic is not protected from", async () => {
    const property = fc.asyncProperty(
      fc.array(stepArbitrary, { maxLength: 25 }),
      fc.record(settings),
      servesNothingWrong,
    );
    await fc.assert(property, { numRuns: 60 });
  });
});

/**
 * Writes, loses power without any sync, opens: every message served is the one that was sent at its offset.
 */
async function servesNothingWrong(
  steps: readonly Step[],
  setting: { seed: number; tailLengthMax: number; segmentLengthMax: number },
): Promise<void> {
  const { tailLengthMax, segmentLengthMax, seed } = setting;
  const bench = await Bench.open({ tailLengthMax, segmentLengthMax, disk: new SimDisk({ seed }) });
  const model = new Model(bench, "kill");
  for (const step of steps) if (step.kind !== "crash" && step.kind !== "reopen") await model.run(step);
  await model.settle();
  bench.disk = bench.disk.crash();
  await bench.abandon();
  const { partition } = { partition: await bench.open() };
  const sent = fold(model.sent.slice(0, partition.lastOp)).messages;
  const texts = new Map(sent.map(({ offset, text }) => [offset, text]));
  for (let offset = partition.firstOffset; offset < partition.committedNextOffset; offset += 1) {
    const seen = await bench.read(offset, 1).catch((error: unknown) => {
      assert.ok(isCodedError(error, ErrorCode.PartitionDamaged), String(error));
      return [];
    });
    for (const message of seen) assert.equal(message.text, texts.get(message.offset));
  }
  await bench.close();
}
