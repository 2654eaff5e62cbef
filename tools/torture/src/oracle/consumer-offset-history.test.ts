import assert from "node:assert/strict";
import { test } from "node:test";
import { ConsumerOffsetHistory } from "./consumer-offset-history.ts";

function history(): ConsumerOffsetHistory {
  const offsets = new ConsumerOffsetHistory("consumer");
  offsets.attempt(9);
  offsets.acknowledge(9);
  offsets.attempt(12);
  return offsets;
}

test("the acknowledged offset and the unanswered one are both right", () => {
  history().see(9);
  history().see(12);
});

test("an offset below the acknowledged one, none at all, or one never stored is found", () => {
  for (const stored of [8, undefined, 13])
    assert.throws(() => history().see(stored), { kind: "consumer-offset" });
});

test("an offset that was seen once must stay, also when nobody acknowledged it", () => {
  const offsets = history();
  offsets.see(12);
  assert.throws(() => offsets.see(9), { kind: "consumer-offset" });
});

test("after a purge nothing may be stored", () => {
  const offsets = history();
  offsets.purge();
  assert.throws(() => offsets.see(9), { kind: "consumer-offset" });
  offsets.see(undefined);
});
