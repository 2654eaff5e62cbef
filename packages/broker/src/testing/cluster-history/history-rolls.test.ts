import assert from "node:assert/strict";
import { test } from "node:test";
import { Rolls } from "./history-rolls.ts";

test("segments behind others are counted, once for all nodes, and not those behind which none was", () => {
  const rolls = new Rolls();
  const open = (path: string, kind: "open" | "read" = "open") =>
    rolls.see({ kind, path, position: 0, length: 0, index: 0 });
  const [folder, first] = ["streams/0/topics/1/partitions/0-7", "0".repeat(20)];
  const later = `${first.slice(0, -2)}12`;
  for (const name of [`${first}.log`, `${first}.ops`, `${first}.g1.log`]) open(`${folder}/${name}`);
  open(`incoming/0-1-0-7/${later}.log`);
  open(`${folder}/${later}.log`, "read");
  assert.equal(rolls.count, 0);
  for (let node = 0; node < 3; node += 1) assert.equal(open(`${folder}/${later}.log`), undefined);
  open(`${folder}/${later}.g1.log`);
  assert.equal(rolls.count, 2);
});
