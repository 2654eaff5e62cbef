import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode, isCodedError } from "@millrace/errors";
import { utf8 } from "@millrace/testkit";
import { describeDiskCompliance, readAt, synced, written } from "../disk.compliance.ts";
import { faultAt, seededFaults } from "./disk-faults.ts";
import { SimDisk } from "./sim-disk.ts";

describeDiskCompliance("SimDisk", async () => ({
  disk: new SimDisk({ seed: 3 }),
  remove: () => Promise.resolve(),
}));

/** A file whose name is durable and whose first four bytes are. */
async function diskWithSyncedFile(seed: number) {
  const disk = new SimDisk({ seed });
  const file = await disk.openFile("a", "create");
  await written(file, [utf8("sure")], 0);
  await synced(file);
  await disk.syncDirectory("");
  return { disk, file };
}

test("what was synced survives power loss, whatever chance says", async () => {
  for (let seed = 1; seed <= 50; seed++) {
    const { disk, file } = await diskWithSyncedFile(seed);
    await written(file, [utf8("maybe")], 4);
    const after = disk.crash();
    const text = new TextDecoder().decode(await after.readWhole("a", 100));
    assert.ok(text.startsWith("sure"), text);
    assert.ok(/^sure(m|\0)*/.test(text) && text.length <= 9, text);
  }
});

test("bytes that were not synced are lost, kept or torn by power loss", async () => {
  const lengths = new Set<number>();
  for (let seed = 1; seed <= 60; seed++) {
    const { disk, file } = await diskWithSyncedFile(seed);
    await written(file, [new Uint8Array(3000).fill(7)], 4);
    lengths.add((await disk.crash().stat("a"))?.length ?? -1);
  }
  assert.ok(lengths.size > 20);
  assert.ok([...lengths].every((length) => length >= 4 && length <= 3004));
});

test("keep decides what power loss leaves", async () => {
  const { disk, file } = await diskWithSyncedFile(1);
  await written(file, [utf8("more")], 4);
  assert.deepEqual(await disk.crash({ keep: "none" }).readWhole("a", 9), utf8("sure"));
  const second = await diskWithSyncedFile(1);
  await written(second.file, [utf8("more")], 4);
  assert.deepEqual(await second.disk.crash({ keep: "all" }).readWhole("a", 9), utf8("suremore"));
});

test("names are only durable after their directory was synced", async () => {
  const disk = new SimDisk();
  await disk.makeDirectory("d");
  const file = await disk.openFile("d/a", "create");
  await written(file, [utf8("x")], 0);
  await synced(file);
  await disk.syncDirectory("");
  const first = disk.crash({ keep: "none" });
  assert.deepEqual(await first.readDirectory("d"), []);
  assert.equal((await first.stat("d"))?.kind, "directory");
});

test("a sync of a directory covers the names that were there when it was asked for, and no later ones", async () => {
  const disk = new SimDisk();
  await disk.openFile("before", "create");
  const opening = disk.openFile("late", "create");
  const syncing = disk.syncDirectory("");
  await Promise.all([opening, syncing]);
  assert.deepEqual(await disk.crash({ keep: "none" }).readDirectory(""), [{ name: "before", kind: "file" }]);
});

test("a whole file is old or new after power loss at any moment, never a mixture", async () => {
  const seen = new Set<string>();
  for (let seed = 1; seed <= 150; seed++) {
    const turns = seed % 75;
    const disk = new SimDisk({ seed });
    await disk.writeWhole("a", utf8("old"));
    const writing = disk.writeWhole("a", utf8("new!")).catch(() => undefined);
    for (let turn = 0; turn < turns; turn++) await Promise.resolve();
    const after = disk.crash();
    await writing;
    seen.add(new TextDecoder().decode(await after.readWhole("a", 9)));
  }
  assert.deepEqual([...seen].sort(), ["new!", "old"]);
});

test("a whole file is old or new though the temporary file of an attempt that failed had the same name", async () => {
  const seen = new Set<string>();
  for (let seed = 1; seed <= 60; seed++) {
    const disk = new SimDisk({ seed });
    await disk.writeWhole("a", utf8("old"));
    disk.setFaults(faultAt(0, ({ kind }) => kind === "datasync", { kind: "error", errno: "EIO" }));
    await assert.rejects(disk.writeWhole("a", utf8("failed")));
    disk.setFaults(faultAt(0, ({ kind }) => kind === "sync-directory", { kind: "error", errno: "EIO" }));
    await assert.rejects(disk.writeWhole("a", utf8("new!")));
    seen.add(new TextDecoder().decode(await disk.crash().readWhole("a", 9)));
  }
  assert.deepEqual([...seen].sort(), ["new!", "old"]);
});

test("a killed process leaves all that was written, and what was on its way in part", async () => {
  const lengths = new Set<number>();
  for (let seed = 1; seed <= 40; seed++) {
    const { disk, file } = await diskWithSyncedFile(seed);
    await written(file, [utf8("done")], 4);
    file.write([new Uint8Array(100)], 8, () => {});
    const after = disk.kill();
    const bytes = (await after.readWhole("a", 200)) ?? new Uint8Array(0);
    assert.deepEqual(bytes.slice(0, 8), utf8("suredone"));
    lengths.add(bytes.length);
  }
  assert.ok(lengths.size > 5 && [...lengths].every((length) => length >= 8 && length <= 108));
});

test("what a killed process did not sync can still be lost by power loss afterwards", async () => {
  const { disk, file } = await diskWithSyncedFile(1);
  await written(file, [utf8("more")], 4);
  const next = disk.kill();
  assert.deepEqual(await next.readWhole("a", 9), utf8("suremore"));
  assert.deepEqual(await next.crash({ keep: "none" }).readWhole("a", 9), utf8("sure"));
});

test("after the end of its process a disk refuses everything and changes nothing", async () => {
  const { disk, file } = await diskWithSyncedFile(1);
  const pending = written(file, [utf8("late")], 0);
  const after = disk.crash({ keep: "none" });
  const isDown = (error: unknown) =>
    isCodedError(error, ErrorCode.IoError) && error.details["errno"] === "ESHUTDOWN";
  await assert.rejects(pending, isDown);
  await assert.rejects(written(file, [utf8("later")], 0), isDown);
  await assert.rejects(readAt(file, 1, 0), isDown);
  await assert.rejects(synced(file), isDown);
  await assert.rejects(disk.writeWhole("b", utf8("x")), isDown);
  await assert.rejects(disk.lock("lock"), isDown);
  assert.deepEqual(await after.readDirectory(""), [{ name: "a", kind: "file" }]);
});

test("a lock ends with its process", async () => {
  const disk = new SimDisk();
  await disk.lock("lock");
  const next = disk.kill();
  await (await next.lock("lock")).release();
});

test("a full disk takes what fits, refuses the rest as DiskFull, and works again with more room", async () => {
  const disk = new SimDisk({ spaceLength: 10 });
  const file = await disk.openFile("a", "create");
  await written(file, [utf8("1234567")], 0);
  await assert.rejects(written(file, [utf8("89abcdef")], 7), (error) =>
    isCodedError(error, ErrorCode.DiskFull),
  );
  assert.equal(await file.length(), 10);
  await written(file, [utf8("over")], 0);
  assert.equal((await disk.space()).freeLength, 0);
  disk.setSpace(100);
  await written(file, [utf8("89abcdef")], 7);
  assert.deepEqual(await readAt(file, 20, 0), utf8("over56789abcdef"));
});

test("a scripted fault hits the call it names and no other", async () => {
  const disk = new SimDisk({
    faults: faultAt(1, (call) => call.kind === "write" && call.path === "a", {
      kind: "error",
      errno: "EIO",
      writtenLength: 2,
    }),
  });
  const file = await disk.openFile("a", "create");
  await written(file, [utf8("one")], 0);
  await assert.rejects(written(file, [utf8("two")], 3), (error) => isCodedError(error, ErrorCode.IoError));
  assert.deepEqual(await readAt(file, 9, 0), utf8("onetw"));
  await written(file, [utf8("two")], 3);
  assert.equal(await file.length(), 6);
});

test("a short write is continued, unless the process ends between its rounds", async () => {
  const faults = faultAt(0, (call) => call.kind === "write", { kind: "short", writtenLength: 2 });
  const disk = new SimDisk({ faults });
  const file = await disk.openFile("a", "create");
  await written(file, [utf8("whole")], 0);
  assert.deepEqual(await readAt(file, 9, 0), utf8("whole"));
});

test("a failed datasync loses trust: a later one does not cover the same bytes, chance keeps some", async () => {
  const lengths = new Set<number>();
  for (let seed = 1; seed <= 20; seed += 1) {
    const { disk, file } = await diskWithSyncedFile(seed);
    await written(file, [new Uint8Array(2000).fill(1)], 4);
    disk.setFaults(faultAt(0, (call) => call.kind === "datasync", { kind: "error", errno: "EIO" }));
    await assert.rejects(synced(file), (error) => isCodedError(error, ErrorCode.IoError));
    await synced(file);
    assert.equal(await file.length(), 2004);
    lengths.add(await keptLength(disk));
  }
  assert.ok(lengths.size > 2 && Math.min(...lengths) < 2000, [...lengths].join());
});

test("power loss during a datasync leaves some of what it covers, and all of it once it is over", async () => {
  const lengths = new Set<number>();
  for (let seed = 1; seed <= 20; seed += 1) {
    const { disk, file } = await diskWithSyncedFile(seed);
    await written(file, [new Uint8Array(2000).fill(1)], 4);
    file.datasync(() => {});
    lengths.add(await keptLength(disk));
  }
  assert.ok(lengths.size > 2 && Math.min(...lengths) < 2000, [...lengths].join());
  const { disk, file } = await diskWithSyncedFile(1);
  await written(file, [new Uint8Array(2000).fill(1)], 4);
  await synced(file);
  assert.equal(await keptLength(disk), 2000);
});

/** A disk whose calls complete when the test says so, and a file on it with a durable name and no bytes. */
async function diskInHand(seed = 4) {
  const waiting: (() => void)[] = [];
  let isHeld = false;
  const schedule = (done: () => void) => (isHeld ? void waiting.push(done) : queueMicrotask(done));
  const disk = new SimDisk({ seed, schedule });
  const file = await disk.openFile("a", "create");
  await disk.syncDirectory("");
  /** Begins a datasync; answers what ends it. */
  const begin = (failure?: "EIO") => {
    isHeld = true;
    disk.setFaults(failure && (() => ({ kind: "error", errno: failure })));
    const synced = new Promise((resolve) => file.datasync(resolve));
    disk.setFaults(undefined);
    isHeld = false;
    const end = waiting.pop();
    return () => {
      end?.();
      return synced;
    };
  };
  const left = () => disk.crash({ keep: "none" }).readWhole("a", 3000);
  return { disk, file, begin, left };
}

test("a datasync that ends after one that began later takes nothing back of what that one covered", async () => {
  const { file, begin, left } = await diskInHand();
  const endEmpty = begin();
  await written(file, [new Uint8Array(1000).fill(1)], 0);
  const endLong = begin();
  await endLong();
  await endEmpty();
  assert.deepEqual(await left(), new Uint8Array(1000).fill(1));
  const shorter = await diskInHand();
  await written(shorter.file, [new Uint8Array(1000).fill(1)], 0);
  const endBefore = shorter.begin();
  await shorter.file.truncate(10);
  await shorter.begin()();
  await endBefore();
  assert.deepEqual(await shorter.left(), new Uint8Array(10).fill(1));
});

test("a datasync covers what an earlier one still has on its way, and not what that one failed to write", async () => {
  const { file, begin, left } = await diskInHand();
  await written(file, [new Uint8Array(1000).fill(1)], 0);
  begin();
  await begin()();
  assert.deepEqual(await left(), new Uint8Array(1000).fill(1));
  const failing = await diskInHand();
  await written(failing.file, [new Uint8Array(1000).fill(1)], 0);
  const endFailing = failing.begin("EIO");
  const endLater = failing.begin();
  assert.ok(isCodedError(await endFailing(), ErrorCode.IoError));
  assert.equal(await endLater(), undefined);
  assert.deepEqual(await failing.left(), new Uint8Array(1000), "the length is there, the bytes are not");
});

test("what syncs that overlap cover is in doubt once one of them fails, whichever ends first and began first", async () => {
  for (const failing of [0, 1]) {
    for (const first of [0, 1]) {
      const { file, begin, left } = await diskInHand();
      await written(file, [new Uint8Array(512).fill(1)], 0);
      const ends = [begin(failing === 0 ? "EIO" : undefined)];
      await written(file, [new Uint8Array(512).fill(2)], 512);
      ends.push(begin(failing === 1 ? "EIO" : undefined));
      const outcomes: unknown[] = [];
      for (const which of [first, 1 - first]) outcomes[which] = await ends[which]?.();
      assert.equal(outcomes[1 - failing], undefined);
      assert.ok(isCodedError(outcomes[failing], ErrorCode.IoError));
      await begin()();
      assert.deepEqual(await left(), new Uint8Array(1024), `${failing} fails, ${first} ends first`);
    }
  }
});

test("chance keeps some of what a sync covered that succeeded before another one failed; written again it is safe", async () => {
  const kept = new Set<number>();
  for (let seed = 1; seed <= 30; seed += 1) {
    const { file, begin, disk } = await diskInHand(seed);
    await written(file, [new Uint8Array(2000).fill(1)], 0);
    const endFailing = begin("EIO");
    assert.equal(await begin()(), undefined);
    await endFailing();
    if (seed > 20) {
      await written(file, [new Uint8Array(2000).fill(1)], 0);
      await begin()();
      assert.equal(await keptLength(disk), 2000);
    } else kept.add(await keptLength(disk));
  }
  assert.ok(kept.size > 2 && Math.min(...kept) < 2000, [...kept].join());
});

test("a sync that fails leaves alone what ended before it began and what began after it ended", async () => {
  const { file, begin, left } = await diskInHand();
  await written(file, [new Uint8Array(512).fill(1)], 0);
  await begin()();
  await written(file, [new Uint8Array(512).fill(2)], 512);
  await begin("EIO")();
  await written(file, [new Uint8Array(512).fill(3)], 1024);
  await begin()();
  const bytes = await left();
  assert.deepEqual(
    [0, 512, 1024].map((at) => bytes?.[at]),
    [1, 0, 3],
  );
});

test("a sync makes sure of a sector as it was when the sync began; what came later is kept by chance", async () => {
  const { file, begin, left } = await diskInHand();
  await written(file, [new Uint8Array(300).fill(1)], 0);
  const end = begin();
  await written(file, [new Uint8Array(100).fill(2)], 100);
  await end();
  assert.deepEqual(await left(), new Uint8Array(300).fill(1));
  const seen = new Set<number | undefined>();
  for (let seed = 1; seed <= 20; seed += 1) {
    const other = await diskInHand(seed);
    await written(other.file, [new Uint8Array(300).fill(1)], 0);
    const endOther = other.begin();
    await written(other.file, [new Uint8Array(100).fill(2)], 100);
    await endOther();
    const bytes = await other.disk.crash().readWhole("a", 3000);
    assert.deepEqual([bytes?.length, bytes?.[0], bytes?.[99]], [300, 1, 1]);
    assert.equal(bytes?.[299], 1);
    seen.add(bytes?.[100]);
  }
  assert.deepEqual([...seen].sort(), [1, 2]);
});

test("a sync that ends last does not put back what a later one made sure of meanwhile", async () => {
  const { file, begin, left } = await diskInHand();
  await written(file, [new Uint8Array(300).fill(1)], 0);
  const endFirst = begin();
  await written(file, [new Uint8Array(300).fill(2)], 0);
  await begin()();
  await endFirst();
  assert.deepEqual(await left(), new Uint8Array(300).fill(2));
});

test("a bit that rots while a sync is under way stays flipped", async () => {
  const { file, begin, left, disk } = await diskInHand();
  await written(file, [new Uint8Array(1000)], 0);
  const end = begin();
  disk.flipBit("a", 8 * 700);
  await end();
  assert.equal((await left())?.[700], 1);
});

test("what a killed process was about to sync is synced by the next one", async () => {
  const { disk, file } = await diskWithSyncedFile(1);
  await written(file, [new Uint8Array(2000).fill(1)], 4);
  file.datasync(() => {});
  const next = disk.kill();
  await synced(await next.openFile("a", "read-write"));
  assert.equal(await keptLength(next), 2000);
});

/** How many of the ones that were written a power loss leaves. */
async function keptLength(disk: SimDisk): Promise<number> {
  const bytes = (await disk.crash({ keep: "random" }).readWhole("a", 3000)) ?? new Uint8Array(0);
  return bytes.filter((byte) => byte === 1).length;
}

test("a flipped bit shows in one read, or stays when it was flipped where it lies", async () => {
  const { disk, file } = await diskWithSyncedFile(1);
  disk.setFaults(faultAt(0, (call) => call.kind === "read", { kind: "flip-bit", bit: 8 }));
  assert.deepEqual(await readAt(file, 4, 0), utf8("stre"));
  assert.deepEqual(await readAt(file, 4, 0), utf8("sure"));
  disk.flipBit("a", 8);
  assert.deepEqual(await readAt(file, 4, 0), utf8("stre"));
  assert.deepEqual(await disk.crash({ keep: "none" }).readWhole("a", 4), utf8("stre"));
});

test("the same seed and the same calls give the same faults and the same crash", async () => {
  const history = async (seed: number) => {
    const chances = { writeError: 0.2, shortWrite: 0.2, readError: 0.1, readFlip: 0.2, datasyncError: 0.2 };
    const disk = new SimDisk({ seed, faults: seededFaults(seed, chances) });
    const file = await disk.openFile("a", "create");
    const events: string[] = [];
    const note = (what: string) =>
      [() => events.push(`${what} ok`), () => events.push(`${what} failed`)] as const;
    for (let round = 0; round < 40; round++) {
      await written(file, [new Uint8Array(300).fill(round)], round * 300).then(...note("write"));
      await synced(file).then(...note("sync"));
      await readAt(file, 300, round * 100).then(...note("read"));
    }
    disk.setFaults(undefined);
    await disk.syncDirectory("");
    return { events, bytes: await disk.crash().readWhole("a", 20_000) };
  };
  const first = await history(9);
  assert.deepEqual(await history(9), first);
  assert.notDeepEqual(await history(10), first);
  for (const event of ["write failed", "sync failed", "read failed", "write ok"])
    assert.ok(first.events.includes(event));
});

test("faults that were taken away do not come back with the next process", async () => {
  const faults = faultAt(0, ({ kind }) => kind === "open", { kind: "error", errno: "EIO" });
  const first = new SimDisk({ seed: 1, faults });
  first.setFaults(undefined);
  for (const next of [first.kill(), new SimDisk({ seed: 1, faults }).crash()]) {
    next.setFaults(undefined);
    await next.kill().makeDirectory("a");
  }
  await first.kill().makeDirectory("b");
});
