import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { SimDisk } from "@millrace/platform/sim";
import { append, filled, open } from "./journal-fixture.test.ts";
import type { MetadataJournal } from "./metadata-journal.ts";

function textsOf({ records }: MetadataJournal): string[] {
  return records.map((record) => new TextDecoder().decode(record.body));
}

describe("a metadata journal whose last ops are cut off", () => {
  it("ends with the op that is kept and goes on with others, also after power loss", async () => {
    for (let keep = 4; keep <= 10; keep += 1) {
      const disk = new SimDisk({ seed: 2 });
      const journal = await filled(disk);
      await journal.cut(keep);
      assert.equal(journal.lastOp, keep);
      await append(journal, 2);
      const after = await open(disk.crash({ keep: "none" }));
      const kept = Array.from({ length: keep - 4 }, (_, at) => `op ${at + 5} of view 1`);
      assert.deepEqual(textsOf(after), [...kept, `op ${keep + 1} of view 2`]);
    }
  });

  it("has no hole when a kill interrupts the cut anywhere", async () => {
    for (let calls = 0; ; calls += 1) {
      const disk = new SimDisk({ seed: 2 });
      const journal = await filled(disk);
      let left = calls;
      disk.setFaults((call) =>
        call.kind !== "read" && call.kind !== "open" && left-- <= 0
          ? { kind: "error", errno: "EIO" }
          : undefined,
      );
      const isDone = await journal.cut(5).then(
        () => true,
        () => false,
      );
      const killed = disk.kill();
      killed.setFaults(() => undefined);
      const after = await open(killed);
      assert.ok(after.lastOp >= 5 && after.lastOp <= 10);
      await after.cut(5);
      assert.deepEqual(textsOf(await open(killed.kill())), ["op 5 of view 1"]);
      if (isDone) return assert.ok(calls > 2);
    }
  });

  it("takes no more ops once a cut has failed", async () => {
    const disk = new SimDisk({ seed: 2 });
    const journal = await filled(disk);
    disk.setFaults((call) => (call.kind === "truncate" ? { kind: "error", errno: "EIO" } : undefined));
    await assert.rejects(journal.cut(5));
    await assert.rejects(append(journal, 2));
  });
});

describe("an op of the metadata journal", () => {
  it("is read back with all that was journaled, from whichever file holds it", async () => {
    const journal = await filled(new SimDisk({ seed: 2 }));
    for (let op = 1; op <= 10; op += 1) {
      const record = await journal.read(op);
      assert.equal(record?.op, op);
      assert.equal(record.commit, op - 1);
      assert.equal(record.session, 5n);
      assert.equal(record.bodyChecksum, 6n);
      assert.equal(new TextDecoder().decode(record.body), `op ${op} of view 1`);
    }
    assert.equal(await journal.read(11), undefined);
  });

  it("is nothing once the snapshot has taken the place of its file", async () => {
    const journal = await filled(new SimDisk({ seed: 2 }));
    await journal.checkpoint(9, new Uint8Array(10));
    assert.equal(await journal.read(3), undefined);
    assert.equal((await journal.read(9))?.op, 9);
  });
});
