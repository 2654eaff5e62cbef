import assert from "node:assert/strict";
import { test } from "node:test";
import { Rolls } from "./history-rolls.ts";

test("segments behind others are counted, once for all nodes, and not those behind which none was", () => {
  const rolls = new Rolls();
  const open = (path: string, kind: "open" | "read" = "open", at = 0) =>
    rolls.see({ kind, path, position: 0, length: 0, index: 0 }, at);
  const [folder, first] = ["streams/0/topics/1/partitions/0-7", "0".repeat(20)];
  const later = `${first.slice(0, -2)}12`;
  for (const name of [`${first}.log`, `${first}.ops`, `${first}.g1.log`]) open(`${folder}/${name}`);
  open(`incoming/0-1-0-7/${later}.log`);
  open(`${folder}/${later}.log`, "read");
  assert.equal(rolls.count, 0);
  for (let node = 0; node < 3; node += 1)
    assert.equal(open(`${folder}/${later}.log`, "open", node), undefined);
  open(`${folder}/${later}.g1.log`);
  assert.equal(rolls.count, 2);
});

test("who waits hears of the next segment that a node begins behind another, once", () => {
  const rolls = new Rolls();
  let heard: readonly string[] = [];
  const folder = "streams/0/topics/1/partitions/0-7";
  const begin = (firstOffset: number, at: number) => {
    const path = `${folder}/${String(firstOffset).padStart(20, "0")}.log`;
    rolls.see({ kind: "open", path, position: 0, length: 0, index: 0 }, at);
    return path;
  };
  const hear = (path: string) => {
    heard = [...heard, path];
  };
  rolls.onNext(1, hear);
  for (const at of [0, 1]) begin(0, at);
  begin(5, 0);
  assert.deepEqual(heard, []);
  const path = begin(5, 1);
  begin(9, 1);
  assert.deepEqual(heard, [path]);
  rolls.onNext(0, hear)();
  begin(9, 0);
  assert.deepEqual(heard, [path]);
});
