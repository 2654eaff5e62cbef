import assert from "node:assert/strict";
import { test } from "node:test";
import { listProcesses, parseProcessStat } from "./process-list.ts";

const FIELDS = "S 7 42 42 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 11 0 99 1000 200";

test("A line of a process is understood, whatever its name holds.", () => {
  const facts = { processId: 42, parentId: 7, state: "S", threadsCount: 11 };
  assert.deepEqual(parseProcessStat(`42 (node) ${FIELDS}\n`), { ...facts, name: "node" });
  assert.deepEqual(parseProcessStat(`42 (a) b (c)) ${FIELDS}`), { ...facts, name: "a) b (c)" });
  for (const bad of ["", "x", "42 node S 7", "42 (node) S"])
    assert.equal(parseProcessStat(bad), undefined, bad);
});

test("The list holds this process by name and no command line, and is never empty.", async () => {
  const own = (await listProcesses()).find(({ processId }) => processId === process.pid);
  assert.equal(own?.parentId, process.ppid);
  assert.doesNotMatch(own?.name ?? "/", /[/ ]/);
  assert.deepEqual(
    (await listProcesses("/nowhere")).map(({ processId }) => processId),
    [process.pid],
  );
});
