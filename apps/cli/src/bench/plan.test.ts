import assert from "node:assert/strict";
import { test } from "node:test";
import { UsageError } from "../failures/usage-error.ts";
import { type BenchOptions, planBench } from "./plan.ts";
import { SCENARIO_NAMES, type ScenarioName } from "./scenarios.table.ts";

const OPTIONS: BenchOptions = {
  messageSize: 100,
  messagesPerBatch: 10,
  batches: 8,
  warmUp: 2,
  streams: 1,
  topics: 1,
  inFlight: 1,
};

function plan(scenario: ScenarioName, options: Partial<BenchOptions> = {}) {
  return planBench(scenario, { ...OPTIONS, ...options });
}

test("pinned actors go round the topics, each to a partition of its own", () => {
  const { senders, pollers, partitions, places } = plan("pinned-producer-and-consumer", {
    streams: 2,
    producers: 5,
    consumers: 5,
  });
  assert.equal(places.length, 2);
  assert.equal(partitions, 3);
  const spots = senders.map(({ place, partitionId }) => [place, partitionId]);
  assert.deepEqual(spots, [
    [0, 0],
    [1, 0],
    [0, 1],
    [1, 1],
    [0, 2],
  ]);
  assert.deepEqual(
    pollers.map(({ place, partitionId }) => [place, partitionId]),
    spots,
  );
  assert.ok(pollers.every(({ batches }) => batches === 10));
});

test("a consumer reads what all the producers of its partition send", () => {
  const { pollers } = plan("pinned-producer-and-consumer", { producers: 3, consumers: 2, partitions: 1 });
  assert.deepEqual(
    pollers.map(({ batches }) => batches),
    [30, 30],
  );
});

test("what consumers read alone is put there before, once for all that read it", () => {
  const pinned = plan("pinned-consumer", { consumers: 3, partitions: 2 });
  assert.deepEqual(
    pinned.fill.map(({ partitionId, batches }) => [partitionId, batches]),
    [
      [0, 10],
      [1, 10],
    ],
  );
  const grouped = plan("balanced-consumer-group", { consumers: 4, groups: 2 });
  assert.deepEqual(
    grouped.fill.map(({ partitionId, batches }) => [partitionId, batches]),
    [[undefined, 20]],
  );
  assert.deepEqual(
    grouped.groupPlans.map(({ messages, warmUpMessages }) => [messages, warmUpMessages]),
    [
      [200, 40],
      [200, 40],
    ],
  );
});

test("a rate limit is that of all actors together, and they take turns", () => {
  const { intervalMs, senders } = plan("balanced-producer", { producers: 4, rateLimit: 10_000 });
  assert.equal(intervalMs, 400);
  assert.deepEqual(
    senders.map(({ delayMs }) => delayMs),
    [0, 100, 200, 300],
  );
});

test("with nothing but a scenario typed, everybody has something to do", () => {
  for (const scenario of SCENARIO_NAMES) {
    for (const topics of [1, 3]) {
      const { senders, pollers, groupPlans, traits } = plan(scenario, { topics });
      assert.equal(senders.length, traits.sends ? topics : 0, scenario);
      assert.equal(pollers.length > 0, traits.reads && traits.placement === "pinned" && !traits.isEndToEnd);
      assert.equal(groupPlans.length, traits.reads && traits.placement === "balanced" ? topics : 0);
      assert.ok(
        groupPlans.every(({ members, messages }) => members > 0 && messages > 0),
        scenario,
      );
    }
  }
});

test("what means nothing or cannot work is refused, saying what to change", () => {
  const cases: [ScenarioName, Partial<BenchOptions>, RegExp][] = [
    ["pinned-producer", { groups: 2 }, /--groups means nothing to pinned-producer/],
    ["pinned-producer", { consumers: 2 }, /--consumers means nothing/],
    ["balanced-consumer-group", { producers: 2 }, /--producers means nothing/],
    ["balanced-consumer-group", { rateLimit: 5 }, /--rate-limit means nothing/],
    ["balanced-consumer-group", { consumers: 1, groups: 2 }, /raise --consumers to 2/],
    ["end-to-end-producing-consumer-group", { producers: 1, groups: 2 }, /raise --producers to 2/],
    ["pinned-producer-and-consumer", { producers: 1, consumers: 2 }, /nobody writes; raise --producers/],
    ["balanced-producer-and-consumer-group", { topics: 2, producers: 1 }, /nobody writes; raise --producers/],
  ];
  for (const [scenario, options, message] of cases) {
    assert.throws(
      () => plan(scenario, options),
      (error) => error instanceof UsageError && message.test(error.message),
      `${scenario} ${message}`,
    );
  }
});
