import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import { createChecksumKernel } from "@millrace/framing";
import { silentLog } from "@millrace/platform";
import { SimDisk } from "@millrace/platform/sim";
import { journalFileName } from "./journal-file.ts";
import type { MetadataJournal } from "./metadata-journal.ts";
import { openMetadataJournal } from "./open-metadata-journal.ts";

const kernel = createChecksumKernel({ memoryLength: 1_048_576 });
const PATH = "metadata";

function open(disk: SimDisk, role: "exclusive" | "read-only" = "exclusive"): Promise<MetadataJournal> {
  return openMetadataJournal({ disk, path: PATH, kernel, log: silentLog, role });
}

function append(journal: MetadataJournal, text: string): Promise<void> {
  const op = journal.lastOp + 1;
  const header = {
    op,
    view: 2,
    parent: journal.lastOpChecksum,
    checksum: BigInt(op) * 77n,
    operation: 64,
    client: 1n << 100n,
    request: 9n,
    user: 3,
    timestamp: 1000 + op,
    session: 5n,
    commit: op - 1,
    bodyChecksum: 6n,
  };
  return new Promise((resolve, reject) => {
    journal.append(header, new TextEncoder().encode(text), (error) =>
      error === undefined ? resolve() : reject(error),
    );
  });
}

function texts(journal: MetadataJournal): string[] {
  return journal.records.map((record) => new TextDecoder().decode(record.body));
}

async function filled(disk: SimDisk, count: number): Promise<MetadataJournal> {
  const journal = await open(disk);
  await Promise.all(Array.from({ length: count }, (_, at) => append(journal, `op ${at + 1}`)));
  return journal;
}

function isDamage(error: unknown): boolean {
  return (
    isCodedError(error, ErrorCode.MetadataDamaged) &&
    typeof error.details["path"] === "string" &&
    typeof error.details["position"] === "number"
  );
}

describe("the metadata journal", () => {
  it("gives back every op after a clean close, a kill and a power loss", async () => {
    let disk = new SimDisk({ seed: 5 });
    const journal = await filled(disk, 10);
    await journal.close();
    const expected = Array.from({ length: 10 }, (_, at) => `op ${at + 1}`);
    const second = await open(disk);
    assert.deepEqual(texts(second), expected);
    assert.equal(second.records[3]?.client, 1n << 100n);
    assert.equal(second.records[3]?.session, 5n);
    disk = disk.kill();
    assert.deepEqual(texts(await open(disk)), expected);
    disk = disk.crash({ keep: "none" });
    const last = await open(disk);
    assert.deepEqual(texts(last), expected);
    assert.equal(last.lastOp, 10);
  });

  it("starts after any power loss while many ops were written at once: whole ones may follow a torn one", async () => {
    for (let seed = 1; seed <= 60; seed += 1) {
      const disk = new SimDisk({ seed });
      const journal = await filled(disk, 3);
      let writes = 0;
      disk.setFaults(({ kind }) => {
        writes += kind === "datasync" ? 1 : 0;
        return undefined;
      });
      const appended = Array.from({ length: 12 }, (_, at) =>
        append(journal, `late ${at}`).catch(() => undefined),
      );
      while (writes === 0) await Promise.resolve();
      const left = disk.crash();
      await Promise.all(appended);
      const reopened = await open(left);
      assert.deepEqual(texts(reopened).slice(0, 3), ["op 1", "op 2", "op 3"]);
      await reopened.close();
    }
  });

  it("calls done in op order and shares one sync among what queues", async () => {
    const disk = new SimDisk({ seed: 5 });
    const journal = await open(disk);
    let syncs = 0;
    disk.setFaults((call) => {
      if (call.kind === "datasync") syncs += 1;
      return undefined;
    });
    const order: number[] = [];
    await Promise.all([1, 2, 3, 4].map((at) => append(journal, `${at}`).then(() => order.push(at))));
    assert.deepEqual(order, [1, 2, 3, 4]);
    assert.equal(syncs, 1);
  });

  it("replays only what is above the snapshot and removes covered files", async () => {
    const disk = new SimDisk({ seed: 5 });
    const journal = await filled(disk, 10);
    await journal.checkpoint(10, new Uint8Array([1, 2, 3]));
    assert.equal(journal.recordsSinceSnapshot, 0);
    await append(journal, "op 11");
    await journal.close();
    const names = (await disk.readDirectory(PATH)).map((entry) => entry.name);
    assert.deepEqual(names, [journalFileName(10), "snapshot.bin", "superblock.a", "superblock.b"]);
    const second = await open(disk);
    assert.deepEqual([second.snapshot?.op, [...(second.snapshot?.bytes ?? [])]], [10, [1, 2, 3]]);
    assert.deepEqual(texts(second), ["op 11"]);
  });

  it("keeps ops above a snapshot that is not of the last op", async () => {
    const disk = new SimDisk({ seed: 5 });
    const journal = await filled(disk, 6);
    await journal.checkpoint(4, new Uint8Array([4]));
    await append(journal, "op 7");
    const second = await open(disk.kill());
    assert.deepEqual(texts(second), ["op 5", "op 6", "op 7"]);
    assert.equal(second.recordsSinceSnapshot, 3);
  });

  it("survives a crash at every disk call of a checkpoint", async () => {
    for (let at = 0; ; at += 1) {
      const disk = new SimDisk({ seed: at });
      const journal = await filled(disk, 5);
      let calls = 0;
      let killed: SimDisk | undefined;
      disk.setFaults(() => {
        calls += 1;
        if (calls === at + 1) killed = disk.crash();
        return undefined;
      });
      const outcome = await journal.checkpoint(5, new Uint8Array([5])).catch((error: CodedError) => error);
      if (killed === undefined) {
        assert.equal(outcome, undefined);
        assert.ok(at > 10, "the checkpoint makes many calls");
        return;
      }
      killed.setFaults(undefined);
      const second = await open(killed);
      assert.equal(second.lastOp, 5, `killed at call ${at}`);
      await append(second, "op 6");
    }
  });

  it("takes several checkpoints at once, one after the other", async () => {
    const disk = new SimDisk({ seed: 5 });
    const journal = await filled(disk, 6);
    await Promise.all([2, 6, 4].map((op) => journal.checkpoint(op, new Uint8Array([op]))));
    await append(journal, "op 7");
    await journal.close();
    const second = await open(disk);
    assert.deepEqual([second.snapshot?.op, texts(second)], [6, ["op 7"]]);
    await second.checkpoint(7, new Uint8Array([7]));
    await second.close();
    const third = await open(disk);
    assert.deepEqual([third.snapshot?.op, third.lastOp, texts(third)], [7, 7, []]);
  });

  it("loses nothing when a start is killed at any disk call", async () => {
    for (let at = 0; ; at += 1) {
      const disk = new SimDisk({ seed: at });
      const journal = await filled(disk, 6);
      await journal.checkpoint(3, new Uint8Array([3]));
      await journal.close();
      const path = `${PATH}/${journalFileName(6)}`;
      const bytes = (await disk.readWhole(path, 1_000_000)) ?? new Uint8Array();
      await disk.writeWhole(path, new Uint8Array([...bytes, ...new Uint8Array(60).fill(9)]));
      let calls = 0;
      let killed: SimDisk | undefined;
      disk.setFaults(() => {
        calls += 1;
        if (calls === at + 1) killed = disk.crash();
        return undefined;
      });
      await open(disk).catch(() => undefined);
      if (killed === undefined) {
        assert.ok(at > 15);
        return;
      }
      killed.setFaults(undefined);
      assert.deepEqual(texts(await open(killed)), ["op 4", "op 5", "op 6"], `killed at call ${at}`);
    }
  });

  it("cuts a torn end and keeps it in quarantine", async () => {
    for (const cut of [1, 50, 130]) {
      const disk = new SimDisk({ seed: 5 });
      await (await filled(disk, 3)).close();
      const path = `${PATH}/${journalFileName(0)}`;
      const bytes = (await disk.readWhole(path, 1_000_000)) ?? new Uint8Array();
      await disk.writeWhole(path, bytes.subarray(0, bytes.length - cut));
      const journal = await open(disk);
      assert.deepEqual(texts(journal), ["op 1", "op 2"]);
      assert.equal((await disk.readDirectory("quarantine")).length, 1);
      await append(journal, "op 3 again");
      assert.equal((await open(disk.kill())).records.length, 3);
    }
  });

  it("refuses a flipped bit of snapshot or journal, naming its place, and changes nothing", async () => {
    for (const file of ["snapshot.bin", journalFileName(3)]) {
      const disk = new SimDisk({ seed: 5 });
      const journal = await filled(disk, 3);
      await journal.checkpoint(3, new Uint8Array(300).fill(7));
      for (const text of ["four", "five", "six"]) await append(journal, text);
      await journal.close();
      const path = `${PATH}/${file}`;
      const length = (await disk.stat(path))?.length ?? 0;
      for (let step = 0; step < 50; step += 1) {
        const bit = Math.floor((step * length * 8) / 50);
        disk.flipBit(path, bit);
        const before = await disk.readWhole(path, 1_000_000);
        const outcome = await open(disk).catch((error: unknown) => error);
        assert.ok(isDamage(outcome) || isCodedError(outcome, ErrorCode.FormatTooNew), String(outcome));
        assert.deepEqual(await disk.readWhole(path, 1_000_000), before);
        disk.flipBit(path, bit);
      }
    }
  });

  it("refuses a flipped bit of its last op, whichever it is, also beside a sector that holds only zeros", async () => {
    for (const text of ["last", "\0".repeat(900)]) {
      const disk = new SimDisk({ seed: 5 });
      const journal = await filled(disk, 2);
      const path = `${PATH}/${journalFileName(0)}`;
      const before = (await disk.stat(path))?.length ?? 0;
      await append(journal, text);
      await journal.close();
      const length = (await disk.stat(path))?.length ?? 0;
      for (let bit = 8 * before; bit < 8 * length; bit += 17) {
        disk.flipBit(path, bit);
        await assert.rejects(
          open(disk),
          (error) => isDamage(error) || isCodedError(error, ErrorCode.FormatTooNew),
          `bit ${bit}`,
        );
        disk.flipBit(path, bit);
      }
    }
  });

  it("starts after a power loss that took a sector in which the last op had but one bit", async () => {
    const disk = new SimDisk({ seed: 5 });
    const journal = await filled(disk, 2);
    const path = `${PATH}/${journalFileName(0)}`;
    const before = (await disk.stat(path))?.length ?? 0;
    const inFront = 512 - ((before + 128) % 512);
    await append(journal, `${"x".repeat(inFront)}\u0001`);
    await journal.close();
    const bytes = (await disk.readWhole(path, 1_000_000)) ?? new Uint8Array();
    const sector = bytes.length - 8;
    assert.equal(sector % 512, 0);
    assert.deepEqual([...bytes.subarray(sector)], [1, 0, 0, 0, 0, 0, 0, 0]);
    await disk.writeWhole(path, bytes.slice().fill(0, sector));
    assert.deepEqual(texts(await open(disk)), ["op 1", "op 2"]);
  });

  it("refuses a snapshot or journal that is cut short, empty or gone", async () => {
    for (const keep of [0, 1, 100]) {
      for (const file of ["snapshot.bin", journalFileName(3)]) {
        const disk = new SimDisk({ seed: 5 });
        const journal = await filled(disk, 3);
        await journal.checkpoint(3, new Uint8Array(300));
        await journal.close();
        const bytes = (await disk.readWhole(`${PATH}/${file}`, 1_000_000)) ?? new Uint8Array();
        await disk.writeWhole(`${PATH}/${file}`, bytes.subarray(0, keep));
        await assert.rejects(open(disk), isDamage, `${file} cut to ${keep}`);
        await disk.removeFile(`${PATH}/${file}`);
        await assert.rejects(open(disk), isDamage, `${file} gone`);
      }
    }
  });

  it("refuses a superblock that knows a newer snapshot than there is", async () => {
    const disk = new SimDisk({ seed: 5 });
    const journal = await filled(disk, 3);
    await journal.superblock.write({ checkpointOp: 2 });
    await journal.close();
    await assert.rejects(open(disk), isDamage);
  });

  it("answers DiskFull, forgets the op, and goes on when there is space again", async () => {
    const disk = new SimDisk({ seed: 5 });
    const journal = await filled(disk, 3);
    disk.setSpace(0);
    await assert.rejects(append(journal, "lost"), (error) => isCodedError(error, ErrorCode.DiskFull));
    assert.equal(journal.lastOp, 3);
    disk.setSpace(Number.POSITIVE_INFINITY);
    await append(journal, "op 4");
    assert.equal(journal.fault, undefined);
    assert.deepEqual(texts(await open(disk.kill())), ["op 1", "op 2", "op 3", "op 4"]);
  });

  it("fences itself after a failed sync", async () => {
    const disk = new SimDisk({ seed: 5 });
    const journal = await filled(disk, 3);
    disk.setFaults((call) => (call.kind === "datasync" ? { kind: "error", errno: "EIO" } : undefined));
    await assert.rejects(append(journal, "lost"), (error) => isCodedError(error, ErrorCode.FileFenced));
    disk.setFaults(undefined);
    await assert.rejects(append(journal, "refused"), (error) => isCodedError(error, ErrorCode.FileFenced));
  });

  it("is readable without a lock or a change in the role read-only", async () => {
    const disk = new SimDisk({ seed: 5 });
    await (await filled(disk, 3)).close();
    const journal = await open(disk, "read-only");
    assert.deepEqual(texts(journal), ["op 1", "op 2", "op 3"]);
    await assert.rejects(append(journal, "no"), (error) => isCodedError(error, ErrorCode.InvalidArgument));
  });

  it("ignores and keeps files that are not its own", async () => {
    const disk = new SimDisk({ seed: 5 });
    await (await filled(disk, 2)).close();
    for (const name of [".DS_Store", "0.tmp", "10 (copy)", "journal-1.wal"]) {
      await disk.writeWhole(`${PATH}/${name}`, new Uint8Array());
    }
    await disk.makeDirectory(`${PATH}/folder`);
    assert.equal((await open(disk)).records.length, 2);
    assert.ok((await disk.readDirectory(PATH)).some((entry) => entry.name === "10 (copy)"));
  });
});
