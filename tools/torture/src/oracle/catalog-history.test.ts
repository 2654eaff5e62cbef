import assert from "node:assert/strict";
import { test } from "node:test";
import { CatalogHistory } from "./catalog-history.ts";
import { type CatalogOperation, type CatalogState, catalogLines } from "./catalog-state.ts";

function after(...operations: readonly CatalogOperation[]): CatalogHistory {
  const history = new CatalogHistory([0]);
  for (const operation of operations) {
    history.attempt(operation);
    history.acknowledge();
  }
  return history;
}

const MADE: readonly CatalogOperation[] = [
  { kind: "create-stream", stream: "a" },
  { kind: "create-stream", stream: "b" },
  { kind: "create-topic", stream: "a", topic: "t", count: 2 },
  { kind: "create-topic", stream: "a", topic: "u", count: 1 },
  { kind: "create-partitions", stream: "a", topic: "t", count: 3 },
  { kind: "delete-partitions", stream: "a", topic: "t", count: 1 },
  { kind: "send-one", stream: "a", topic: "t" },
];

const SHOWN: CatalogState = {
  a: {
    id: 1,
    topics: {
      t: { id: 0, partitionsCount: 4, messagesCount: 1 },
      u: { id: 1, partitionsCount: 1, messagesCount: 0 },
    },
  },
  b: { id: 2, topics: {} },
};

test("acknowledged operations add up to what an honest server shows", () => {
  after(...MADE).see(SHOWN);
  const renamed = after(
    ...MADE,
    { kind: "rename-stream", stream: "b", to: "c" },
    { kind: "rename-topic", stream: "a", topic: "u", to: "v" },
    { kind: "purge-topic", stream: "a", topic: "t" },
    { kind: "delete-topic", stream: "a", topic: "v" },
  );
  renamed.see({
    a: { id: 1, topics: { t: { id: 0, partitionsCount: 4, messagesCount: 0 } } },
    c: { id: 2, topics: {} },
  });
});

test("the lowest free id is given again", () => {
  const history = after(
    ...MADE,
    { kind: "delete-stream", stream: "a" },
    { kind: "create-stream", stream: "d" },
  );
  assert.deepEqual(catalogLines(history.state), ["stream b id 2", "stream d id 1"]);
});

test("a missing stream, a wrong id, a partition too many and a message too few are found", () => {
  const { b, ...onlyA } = SHOWN;
  const wrong: CatalogState[] = [
    onlyA,
    { ...SHOWN, b: { id: 3, topics: {} } },
    { ...onlyA, c: b as NonNullable<typeof b> },
    {
      ...SHOWN,
      a: { id: 1, topics: { ...SHOWN["a"]?.topics, t: { id: 0, partitionsCount: 5, messagesCount: 1 } } },
    },
    {
      ...SHOWN,
      a: { id: 1, topics: { ...SHOWN["a"]?.topics, t: { id: 0, partitionsCount: 4, messagesCount: 0 } } },
    },
  ];
  for (const shown of wrong) assert.throws(() => after(...MADE).see(shown), { kind: "catalog" });
});

test("an unanswered operation may have happened or not, and is settled by what was seen", () => {
  const pending: CatalogOperation = { kind: "delete-stream", stream: "b" };
  const { b: _gone, ...without } = SHOWN;
  const happened = after(...MADE);
  happened.attempt(pending);
  happened.see(without);
  assert.throws(() => happened.see(SHOWN), { kind: "catalog" });
  const missed = after(...MADE);
  missed.attempt(pending);
  missed.see(SHOWN);
  assert.throws(() => missed.see(without), { kind: "catalog" });
});
