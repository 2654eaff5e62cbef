import assert from "node:assert/strict";
import { test } from "node:test";
import { SeededRandom } from "@millrace/testkit";
import { emptyTopic, fabricateHistory, messagesOf, readAll, sendBatch } from "./fabricated-history.ts";
import { PartitionRead } from "./partition-read.ts";
import type { SeenMessage } from "./topic-history.ts";
import { Violation, type ViolationKind } from "./violation.ts";

const SEEDS = 200;

/** Plants a bug of chance into what an honest server would show, and expects the checker to name it. */
function expectFound(
  plant: (shown: SeenMessage[][], random: SeededRandom) => void,
  ...kinds: readonly ViolationKind[]
): void {
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const history = fabricateHistory(seed);
    plant(history.shown, new SeededRandom(seed));
    assert.throws(
      () => readAll(history),
      (error: unknown) => error instanceof Violation && kinds.includes(error.kind),
      `seed ${seed}`,
    );
  }
}

function partitionOf(shown: SeenMessage[][], random: SeededRandom): SeenMessage[] {
  return shown[random.below(2)] as SeenMessage[];
}

function violationOf(work: () => void): ViolationKind | undefined {
  try {
    work();
  } catch (error) {
    if (error instanceof Violation) return error.kind;
    throw error;
  }
  return undefined;
}

test("an honest server passes, with crashes' gaps and unanswered batches of either fate", () => {
  for (let seed = 1; seed <= SEEDS; seed += 1) readAll(fabricateHistory(seed));
});

test("one lost message is found wherever it was, and a lost end too", () => {
  expectFound((shown, random) => {
    const messages = partitionOf(shown, random);
    messages.splice(random.below(messages.length), 1);
  }, "lost");
  expectFound((shown, random) => {
    const messages = partitionOf(shown, random);
    messages.splice(messages.length - 1 - random.below(messages.length));
  }, "lost");
});

test("a message at another offset or in another partition is found", () => {
  expectFound(
    (shown, random) => {
      const messages = partitionOf(shown, random);
      const at = random.below(messages.length);
      // It and all behind it slip by one, as when a reader skips an offset.
      for (let index = at; index < messages.length; index += 1) {
        const message = messages[index] as SeenMessage;
        messages[index] = { ...message, offset: message.offset + 1 };
      }
    },
    "moved",
    "lost",
    "reused",
  );
  expectFound(([left = [], right = []], random) => {
    const message = left[random.below(left.length)] as SeenMessage;
    right.push({ ...message, offset: (right.at(-1)?.offset ?? -1) + 1 });
  }, "moved");
  expectFound(
    (shown, random) => {
      const messages = partitionOf(shown, random);
      const at = random.below(messages.length - 1);
      const [first, second] = [messages[at] as SeenMessage, messages[at + 1] as SeenMessage];
      messages[at] = { ...second, offset: first.offset };
      messages[at + 1] = { ...first, offset: second.offset };
    },
    "moved",
    "reused",
    "lost",
  );
});

test("a message that is there twice is found", () => {
  expectFound((shown, random) => {
    const messages = partitionOf(shown, random);
    const message = messages[random.below(messages.length)] as SeenMessage;
    messages.push({ ...message, offset: (messages.at(-1)?.offset ?? -1) + 1 });
  }, "doubled");
});

test("a message with other bytes, and one that nobody sent, are found", () => {
  expectFound((shown, random) => {
    const messages = partitionOf(shown, random);
    const at = random.below(messages.length);
    messages[at] = { ...(messages[at] as SeenMessage), isIntact: false };
  }, "altered");
  expectFound((shown, random) => {
    const messages = partitionOf(shown, random);
    const at = random.below(messages.length);
    messages[at] = { ...(messages[at] as SeenMessage), number: 1_000_000 };
  }, "never-sent");
});

test("an offset that is shown twice in one read is found", () => {
  expectFound((shown, random) => {
    const messages = partitionOf(shown, random);
    const at = random.below(messages.length);
    messages.splice(at, 0, messages[at] as SeenMessage);
  }, "order");
});

test("an offset acknowledged to two batches is found", () => {
  const topic = emptyTopic();
  topic.acknowledge(sendBatch(topic, 5, "one"), 0, 10);
  const second = sendBatch(topic, 5, "two");
  assert.equal(
    violationOf(() => topic.acknowledge(second, 0, 14)),
    "reused",
  );
});

test("an offset that a reader saw and that goes to another message after the crash is found", () => {
  const topic = emptyTopic();
  const seen = sendBatch(topic, 3);
  const read = new PartitionRead(topic, 0, 0);
  for (const message of messagesOf(seen, 0)) read.see(message);
  topic.loseAnswer(seen);
  const other = sendBatch(topic, 3);
  assert.equal(
    violationOf(() => topic.acknowledge(other, 0, 2)),
    "reused",
  );
  const again = new PartitionRead(topic, 0, 0);
  assert.equal(
    violationOf(() => again.see({ offset: 0, number: other.firstNumber, isIntact: true })),
    "reused",
  );
});

test("an unacknowledged message that a reader saw must stay", () => {
  const topic = emptyTopic();
  const batch = sendBatch(topic, 3);
  const read = new PartitionRead(topic, 0, 0);
  read.see(messagesOf(batch, 0)[0] as SeenMessage);
  topic.loseAnswer(batch);
  assert.equal(
    violationOf(() => readAll({ topic, shown: [[], []] })),
    "lost",
  );
});

test("an unacknowledged batch is there whole or not at all", () => {
  const topic = emptyTopic();
  const batch = sendBatch(topic, 3);
  topic.loseAnswer(batch);
  const shown = [messagesOf(batch, 0).slice(0, 2), []];
  assert.equal(
    violationOf(() => readAll({ topic, shown })),
    "lost",
  );
});

test("what was not there after the restart must not appear later", () => {
  const topic = emptyTopic();
  const batch = sendBatch(topic, 3);
  topic.loseAnswer(batch);
  readAll({ topic, shown: [[], []] });
  assert.equal(
    violationOf(() => readAll({ topic, shown: [messagesOf(batch, 0), []] })),
    "returned",
  );
});

test("what was refused for want of room must not appear", () => {
  const topic = emptyTopic();
  const batch = sendBatch(topic, 3);
  topic.refuse(batch);
  assert.equal(topic.refusedCount, 1);
  assert.equal(
    violationOf(() => readAll({ topic, shown: [messagesOf(batch, 0), []] })),
    "returned",
  );
});

test("offsets must not go back behind what earlier rounds gave out", () => {
  const topic = emptyTopic();
  const batch = sendBatch(topic, 3);
  topic.acknowledge(batch, 0, 100);
  readAll({ topic, shown: [messagesOf(batch), []] });
  const later = sendBatch(topic, 3);
  assert.equal(
    violationOf(() => topic.acknowledge(later, 0, 50)),
    "reused",
  );
});

test("batches of one connection must not change places", () => {
  const topic = emptyTopic();
  const [first, second] = [sendBatch(topic, 3), sendBatch(topic, 3)];
  topic.acknowledge(first, 0, 10);
  assert.equal(
    violationOf(() => topic.acknowledge(second, 0, 0)),
    "order",
  );
});

test("an acknowledgement that contradicts a reader is found", () => {
  const topic = emptyTopic();
  const batch = sendBatch(topic, 3);
  new PartitionRead(topic, 1, 0).see(messagesOf(batch, 0)[0] as SeenMessage);
  assert.equal(
    violationOf(() => topic.acknowledge(batch, 0, 0)),
    "moved",
  );
});
