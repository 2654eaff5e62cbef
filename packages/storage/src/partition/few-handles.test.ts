import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { BlockPool } from "@millrace/framing";
import { NodeDisk } from "@millrace/platform/node";
import { Bench, IDENTITY, kernel } from "./partition-fixture.test.ts";

const root = await mkdtemp(join(tmpdir(), "millrace-handles-"));
after(() => rm(root, { recursive: true, force: true }));

const pool = new BlockPool(kernel.memory, { blockLength: 65_536, checked: true });
const MAX = 8;
const COUNT = 12;

test("Many partitions share few file handles: all are written, rolled, read, closed and opened again.", async () => {
  for (const durability of ["replicated", "persisted"] as const) {
    const disk = new NodeDisk(join(root, durability), undefined, MAX);
    const benches = Array.from(
      { length: COUNT },
      () => new Bench({ tailLengthMax: 0, segmentLengthMax: 2000, durability, pool }),
    );
    const openAll = () =>
      Promise.all(
        benches.map((bench, index) =>
          bench.open({ disk, path: `partitions/${index}`, identity: { ...IDENTITY, revision: index } }),
        ),
      );
    await openAll();
    const expected = Array.from({ length: 8 }, (_, round) => ({
      offset: round,
      text: `${round}`.padEnd(400),
    }));
    for (const { text } of expected) {
      await Promise.all(benches.map((bench) => bench.append([text])));
      assert.ok(disk.openFilesCount <= MAX, `${disk.openFilesCount} handles are open`);
    }
    for (const all of await Promise.all(benches.map((bench) => bench.readAll())))
      assert.deepEqual(all, expected);
    await Promise.all(benches.map((bench) => bench.close()));
    assert.equal(disk.openFilesCount, 0);
    await openAll();
    for (const bench of benches) {
      assert.equal(bench.partition.fault, undefined);
      assert.ok(bench.partition.sealedSegments().length > 0);
      assert.equal(await bench.append(["behind"]), expected.length);
      assert.deepEqual((await bench.readAll()).slice(0, -1), expected);
    }
    await Promise.all(benches.map((bench) => bench.close()));
  }
});
