import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ErrorCode, isCodedError } from "@millrace/errors";
import { Bench, name, PATH } from "./partition-fixture.test.ts";

const isFull = (error: unknown) => isCodedError(error, ErrorCode.DiskFull);
const isFenced = (error: unknown) => isCodedError(error, ErrorCode.FileFenced);

describe("a process without file handles", () => {
  const isWanting = (error: unknown) =>
    isCodedError(error, ErrorCode.IoError) && ["EMFILE", "ENFILE"].includes(String(error.details["errno"]));

  it("refuses what needs one, keeps what it has, and goes on as soon as there are some again", async () => {
    for (const kind of ["open", "write"] as const) {
      for (const errno of ["EMFILE", "ENFILE"]) {
        const bench = await Bench.open({ segmentLengthMax: 400 });
        await bench.append(["fills the segment".padEnd(kind === "open" ? 300 : 10)]);
        bench.disk.setFaults((call) => (call.kind === kind ? { kind: "error", errno } : undefined));
        await assert.rejects(bench.append(["refused"]), isWanting);
        await assert.rejects(bench.append(["refused"]), isWanting);
        if (kind === "open") await bench.partition.resume();
        await assert.rejects(bench.append(["refused"]), isWanting);
        if (kind === "open") await assert.rejects(bench.readAll(), isWanting);
        else assert.equal((await bench.readAll()).length, 1);
        bench.disk.setFaults(undefined);
        assert.equal(await bench.partition.resume(), true);
        assert.equal(await bench.append(["behind it"]), 1);
        await bench.kill();
        const texts = (await bench.readAll()).map(({ text }) => text.trim());
        assert.deepEqual(texts, ["fills the segment", "behind it"]);
        assert.deepEqual(await bench.disk.readDirectory("quarantine"), []);
        await bench.close();
      }
    }
  });

  it("fences as ever where a datasync fails for it", async () => {
    const bench = await Bench.open({ durability: "persisted" });
    bench.disk.setFaults(({ kind }) =>
      kind === "datasync" ? { kind: "error", errno: "EMFILE" } : undefined,
    );
    await assert.rejects(bench.append(["in doubt"]), isFenced);
    bench.disk.setFaults(undefined);
    assert.equal(await bench.partition.resume(), false);
    await bench.close();
  });
});

describe("a full disk", () => {
  it("refuses appends, keeps reading, and goes on where it stopped when space is back", async () => {
    for (const room of [0, 1, 100, 127, 300, 500, 700]) {
      const bench = await Bench.open();
      for (let at = 0; at < 5; at += 1) await bench.append([`m${at}`]);
      const used = await usedLength(bench);
      bench.disk.setSpace(used + room);
      const outcomes = await Promise.allSettled(
        Array.from({ length: 6 }, (_, at) => bench.append([`n${at}`])),
      );
      const failed = outcomes.filter((one) => one.status === "rejected");
      assert.ok(failed.length > 0);
      assert.ok(
        failed.every((one) => isFull(one.reason)),
        "every failed append says DiskFull",
      );
      assert.ok(isFull(bench.partition.fault));
      const survivors = 5 + outcomes.length - failed.length;
      assert.equal(bench.partition.lastOp, survivors);
      assert.equal(bench.partition.nextOffset, survivors);
      assert.equal((await bench.readAll()).length, survivors);
      await assert.rejects(bench.append(["refused"]), isFull);
      assert.equal(await bench.partition.resume(), false, "there is no space yet");
      bench.disk.setSpace(Number.POSITIVE_INFINITY);
      assert.equal(await bench.partition.resume(), true);
      assert.equal(await bench.append(["back"]), survivors);
      await bench.kill();
      assert.equal((await bench.readAll()).length, survivors + 1);
      assert.deepEqual(
        await bench.disk.readDirectory("quarantine"),
        [],
        "the files had been cut back cleanly",
      );
      await bench.close();
    }
  });

  it("refuses only what is gone: neither a kill nor power loss brings it back", async () => {
    for (const durability of ["replicated", "persisted"] as const) {
      const bench = await Bench.open({ durability, offsetDurability: durability });
      await bench.append(["one", "two"]);
      bench.disk.setSpace((await usedLength(bench)) + 200);
      let left: typeof bench.disk | undefined;
      // The record of the first fits, that of the second does not.
      const stores = [1, 2].map((id) =>
        bench.storeOffset(1, id, 1).catch((error: unknown) => {
          assert.ok(isFull(error));
          left ??= durability === "replicated" ? bench.disk.kill() : bench.disk.crash({ keep: "all" });
        }),
      );
      await Promise.all(stores);
      await bench.abandon();
      assert.ok(left !== undefined);
      bench.disk = left;
      bench.disk.setSpace(Number.POSITIVE_INFINITY);
      await bench.open();
      assert.equal(bench.partition.consumerOffset(1, 1), undefined, durability);
      assert.equal((await bench.readAll()).length, 2);
      await bench.close();
    }
  });

  it("during a roll leaves the sealed segment whole", async () => {
    const bench = await Bench.open({ segmentLengthMax: 400 });
    await bench.append(["fills the segment".padEnd(300)]);
    bench.disk.setSpace(await usedLength(bench));
    await assert.rejects(bench.append(["no room"]), isFull);
    bench.disk.setSpace(Number.POSITIVE_INFINITY);
    assert.equal(await bench.partition.resume(), true);
    assert.equal(await bench.append(["room"]), 1);
    await bench.reopen();
    assert.equal((await bench.readAll()).length, 2);
    await bench.close();
  });

  it("at the start does not keep what is there from being read", async () => {
    const bench = await Bench.open();
    for (let at = 0; at < 5; at += 1) await bench.append([`m${at}`]);
    bench.disk.setSpace(await usedLength(bench));
    await bench.kill();
    assert.equal((await bench.readAll()).length, 5);
    await assert.rejects(bench.append(["no"]), isFull);
    bench.disk.setSpace(Number.POSITIVE_INFINITY);
    await bench.close();
  });
});

async function usedLength(bench: Bench): Promise<number> {
  const space = await bench.disk.space();
  return space.totalLength - space.freeLength === 0 ? sumOf(bench) : space.totalLength - space.freeLength;
}

async function sumOf(bench: Bench): Promise<number> {
  let sum = 0;
  for (const file of await bench.fileNames()) sum += (await bench.fileBytes(file)).length;
  return sum;
}

describe("a full disk at a start with a torn tail", () => {
  it("does not keep anybody from reading, and the next start with space repairs it", async () => {
    const bench = await Bench.open();
    for (let at = 0; at < 5; at += 1) await bench.append([`m${at}`]);
    bench.disk.setSpace(await usedLength(bench));
    await bench.close();
    bench.disk.setSpace(Number.POSITIVE_INFINITY);
    const log = await bench.fileBytes(name(0, "log"));
    await bench.setFile(name(0, "log"), log.slice(0, -1));
    bench.disk.setSpace(0);
    await bench.open();
    assert.ok(isFull(bench.partition.fault));
    assert.equal((await bench.readAll()).length, 4);
    assert.equal(await bench.partition.resume(), false, "what was not cut must not be written over");
    await bench.close();
    bench.disk.setSpace(Number.POSITIVE_INFINITY);
    await bench.open();
    assert.equal(bench.partition.fault, undefined);
    assert.equal(await bench.append(["new"]), 5);
    await bench.close();
  });
});

describe("a failing disk", () => {
  it("fences the partition when a datasync fails, whatever came before", async () => {
    const bench = await Bench.open({ durability: "persisted" });
    await bench.append(["good"]);
    bench.disk.setFaults((call) => (call.kind === "datasync" ? { kind: "error", errno: "EIO" } : undefined));
    await assert.rejects(bench.append(["bad"]), isFenced);
    bench.disk.setFaults(undefined);
    await assert.rejects(bench.append(["never"]), isFenced);
    assert.equal(await bench.partition.resume(), false);
    assert.deepEqual(await bench.readAll(), [{ offset: 0, text: "good" }]);
    await bench.abandon();
  });

  it("fences the partition when a datasync answers ENOSPC: what it covered is in doubt", async () => {
    const bench = await Bench.open({ durability: "persisted" });
    await bench.append(["good"]);
    bench.disk.setFaults((call) =>
      call.kind === "datasync" ? { kind: "error", errno: "ENOSPC" } : undefined,
    );
    await assert.rejects(bench.append(["bad"]), isFenced);
    bench.disk.setFaults(undefined);
    assert.equal(await bench.partition.resume(), false);
    await bench.abandon();
  });

  it("fences the partition when either write fails, and a start recovers it", async () => {
    for (const kind of ["log", "ops"]) {
      for (const writtenLength of [0, 1, 127, 128, 300]) {
        const bench = await Bench.open();
        await bench.append(["good"]);
        bench.disk.setFaults((call) =>
          call.kind === "write" && call.path.endsWith(kind)
            ? { kind: "error", errno: "EIO", writtenLength }
            : undefined,
        );
        const outcomes = await Promise.allSettled([
          bench.append(["bad"]),
          bench.storeOffset(1, 1, 0),
          bench.append(["x"]),
        ]);
        assert.ok(outcomes.every((one) => one.status === "rejected" && isFenced(one.reason)));
        bench.disk.setFaults(undefined);
        await bench.kill();
        const all = await bench.readAll();
        assert.deepEqual(all[0], { offset: 0, text: "good" });
        assert.equal(bench.partition.fault, undefined);
        await bench.append(["goes on"]);
        await bench.close();
      }
    }
  });

  it("takes short writes for what they are", async () => {
    const bench = await Bench.open();
    bench.disk.setFaults((call) =>
      call.kind === "write" ? { kind: "short", writtenLength: 10 } : undefined,
    );
    for (let at = 0; at < 5; at += 1) await bench.append([`m${at}`]);
    bench.disk.setFaults(undefined);
    await bench.kill();
    assert.equal((await bench.readAll()).length, 5);
    await bench.close();
  });

  it("answers a read error as such, and the next read is served", async () => {
    const bench = await Bench.open({ tailLengthMax: 0 });
    await bench.append(["good"]);
    bench.disk.setFaults((call) => (call.kind === "read" ? { kind: "error", errno: "EIO" } : undefined));
    await assert.rejects(bench.read(0), (error) => isCodedError(error, ErrorCode.IoError));
    bench.disk.setFaults(undefined);
    assert.equal((await bench.read(0)).length, 1);
    await bench.close();
  });

  it("never gets a flipped bit served as good", async () => {
    const bench = await Bench.open({ tailLengthMax: 0 });
    await bench.append(["precious"]);
    const length = (await bench.fileBytes(name(0, "log"))).length;
    for (let bit = 0; bit < length * 8; bit += 7) {
      bench.disk.setFaults((call) =>
        call.kind === "read" && call.path.endsWith(".log") ? { kind: "flip-bit", bit } : undefined,
      );
      await assert.rejects(bench.read(0), (error) => isCodedError(error, ErrorCode.PartitionDamaged));
    }
    bench.disk.setFaults(undefined);
    assert.deepEqual(await bench.read(0), [{ offset: 0, text: "precious" }]);
    await bench.close();
  });
});

describe("retention, and crashes at every disk call (A-05, A-13),", () => {
  it("never move the earliest offset back nor return deleted messages", async () => {
    for (let at = 0; at < 60; at += 1) {
      const bench = await Bench.open({ segmentLengthMax: 2000 });
      for (let one = 0; one < 20; one += 1) await bench.append([`message ${one}`]);
      await bench.storeOffset(1, 5, 9);
      const mark = bench.partition.sealedSegments()[2]?.firstOffset ?? 0;
      let calls = 0;
      let killed: typeof bench.disk | undefined;
      bench.disk.setFaults(() => {
        calls += 1;
        if (calls === at + 1) killed = bench.disk.kill();
        return undefined;
      });
      const acknowledged = await bench.truncate(mark).then(
        () => true,
        () => false,
      );
      await bench.abandon();
      if (killed === undefined) break;
      killed.setFaults(undefined);
      bench.disk = killed;
      await bench.open();
      if (acknowledged) assert.equal(bench.partition.firstOffset, mark);
      const expected = bench.partition.firstOffset;
      assert.ok(expected === 0 || expected === mark);
      const all = await bench.readAll();
      assert.equal(all[0]?.offset, expected);
      assert.equal(all.length, 20 - expected);
      assert.equal(
        bench.partition.consumerOffset(1, 5),
        9,
        "offsets outlive the segments they were stored in",
      );
      await bench.reopen();
      assert.equal(bench.partition.firstOffset, expected);
      assert.equal(await bench.append(["next"]), 20);
      await bench.close();
    }
  });

  it("leave a partition purged or not, and no stored offset hides what follows", async () => {
    for (let at = 0; at < 80; at += 1) {
      const bench = await Bench.open({ segmentLengthMax: 2000 });
      for (let one = 0; one < 10; one += 1) await bench.append([`message ${one}`]);
      await bench.storeOffset(1, 5, 9);
      let calls = 0;
      let killed: typeof bench.disk | undefined;
      bench.disk.setFaults(() => {
        calls += 1;
        if (calls === at + 1) killed = bench.disk.kill();
        return undefined;
      });
      const acknowledged = await bench.purge().then(
        () => true,
        () => false,
      );
      await bench.abandon();
      if (killed === undefined) {
        assert.ok(at > 10);
        break;
      }
      killed.setFaults(undefined);
      bench.disk = killed;
      await bench.open();
      const { purgeGeneration } = bench.partition;
      if (acknowledged) assert.equal(purgeGeneration, 1);
      assert.equal((await bench.readAll()).length, purgeGeneration === 1 ? 0 : 10);
      assert.equal(bench.partition.consumerOffset(1, 5), purgeGeneration === 1 ? undefined : 9);
      assert.equal(await bench.append(["next"]), purgeGeneration === 1 ? 0 : 10);
      await bench.reopen();
      assert.equal((await bench.readAll()).at(-1)?.text, "next");
      const files = await bench.fileNames();
      if (purgeGeneration === 1)
        assert.ok(
          files.every((file) => file.includes(".g1.")),
          files.join(),
        );
      await bench.close();
    }
  });

  it("lose nothing while a partition starts", async () => {
    for (let at = 0; at < 200; at += 1) {
      const bench = await Bench.open({ segmentLengthMax: 2000 });
      for (let one = 0; one < 12; one += 1) await bench.append([`message ${one}`, "and more"]);
      await bench.partition.close();
      const log = bench.partition.sealedSegments().at(-1)?.lastOffset ?? 0;
      const file = name(log + 1, "log");
      await bench.setFile(file, (await bench.fileBytes(file)).slice(0, -1));
      let calls = 0;
      let killed: typeof bench.disk | undefined;
      bench.disk.setFaults(() => {
        calls += 1;
        if (calls === at + 1) killed = bench.disk.kill();
        return undefined;
      });
      const opened = await bench.open().catch(() => undefined);
      if (killed === undefined) {
        assert.ok(at > 20);
        bench.disk.setFaults(undefined);
        await bench.close();
        return;
      }
      await opened?.close().catch(() => undefined);
      killed.setFaults(undefined);
      bench.disk = killed;
      await bench.open();
      assert.equal(bench.partition.fault, undefined, `killed at call ${at}`);
      assert.equal((await bench.readAll()).length, 22);
      assert.equal(await bench.append(["next"]), 24);
      await bench.close();
    }
  });

  it("leave nothing of a partition whose files are deleted", async () => {
    const { deletePartitionFiles } = await import("./open-partition.ts");
    const bench = await Bench.open();
    await bench.append(["x"]);
    await bench.close();
    await deletePartitionFiles(bench.disk, PATH);
    await deletePartitionFiles(bench.disk, PATH);
    assert.equal(await bench.disk.stat(PATH), undefined);
    await bench.open();
    assert.equal(bench.partition.lastOp, 0);
    await bench.close();
  });
});
