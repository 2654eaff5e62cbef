import assert from "node:assert/strict";
import { test } from "node:test";
import { RequestRuns } from "./request-runs.ts";

test("Runs of requests come one after another, around the end in two pieces, each renewed when it is taken.", () => {
  let number = 0;
  const runs = new RequestRuns(Buffer.from("n:"), 4, (bytes, position) => {
    number += 1;
    bytes.write(String(number), position);
  });
  const pieces: string[] = [];
  for (const count of [3, 3, 0, 4]) runs.take(count, (bytes) => pieces.push(bytes.toString()));
  assert.deepEqual(pieces, ["1:2:3:", "4:", "5:6:", "7:8:", "9:10"]);
  assert.equal(number, 10);
});
