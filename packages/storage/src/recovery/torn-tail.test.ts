import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { batchLengthAt } from "@millrace/framing";
import { SeededRandom } from "@millrace/testkit";
import { Bench, name, PATH, type Seen } from "../partition/partition-fixture.test.ts";

const LOG = name(0, "log");
const OPS = name(0, "ops");

/** Messages of mixed sizes, some offsets stored in between; closed by a kill. */
async function written(count: number): Promise<{ bench: Bench; all: Seen[] }> {
  const bench = await Bench.open();
  const random = new SeededRandom(11);
  const all: Seen[] = [];
  while (all.length < count) {
    const texts = Array.from({ length: 1 + random.below(5) }, (_, at) =>
      `${all.length + at}`.padEnd(1 + random.below(300), "-"),
    );
    const base = await bench.append(texts);
    for (const [at, text] of texts.entries()) all.push({ offset: base + at, text });
    if (random.below(4) === 0) await bench.storeOffset(1, random.below(3), base);
  }
  all.push({ offset: await bench.append(["two"]), text: "two" });
  bench.disk = bench.disk.kill();
  await bench.abandon();
  return { bench, all };
}

/** Opens on the changed files, checks what must hold, then puts the files back. */
async function opensComplete(
  written: { bench: Bench; all: Seen[] },
  survivors: number,
  change: (bench: Bench) => Promise<void>,
): Promise<void> {
  const { bench, all } = written;
  const files = [await bench.fileBytes(LOG), await bench.fileBytes(OPS)] as const;
  await change(bench);
  await bench.open();
  assert.equal(bench.partition.fault, undefined);
  assert.deepEqual(await bench.readAll(), all.slice(0, survivors), "complete up to the tear");
  const next = await bench.append(["after the tear"]);
  assert.ok(next >= all.length, `offset ${next} was acknowledged before`);
  await bench.reopen();
  assert.deepEqual((await bench.readAll()).at(-1), { offset: next, text: "after the tear" });
  await bench.close();
  await putBack(bench, files);
}

async function putBack(bench: Bench, files: readonly [Uint8Array, Uint8Array]): Promise<void> {
  await bench.disk.removeDirectory(PATH);
  await bench.disk.removeDirectory("quarantine");
  await bench.disk.makeDirectory(PATH);
  await bench.setFile(LOG, files[0]);
  await bench.setFile(OPS, files[1]);
}

/** Messages in batches that end within the first `length` bytes of the log. */
function wholeWithin(log: Uint8Array, length: number): number {
  const view = new DataView(log.buffer, log.byteOffset, log.byteLength);
  let count = 0;
  for (let at = 0; at < log.length; at += batchLengthAt(view, at)) {
    if (at + batchLengthAt(view, at) > length) break;
    count += view.getUint32(at + 48, true);
  }
  return count;
}

describe("a torn tail (A-02)", () => {
  it("is cut wherever the tear is, and no acknowledged offset is given again", async () => {
    const source = await written(400);
    const log = await source.bench.fileBytes(LOG);
    const cuts = [1, 2, 47, 48, 49, 255, 256, 257, 4096, 20_000, log.length];
    for (const cut of cuts) {
      const kept = log.subarray(0, Math.max(0, log.length - cut));
      await opensComplete(source, wholeWithin(log, kept.length), (bench) => bench.setFile(LOG, kept));
    }
  });

  it("is cut at every byte of the last batch", async () => {
    const source = await written(30);
    const log = await source.bench.fileBytes(LOG);
    const lastLength = log.length - lastBatchStart(log);
    for (let cut = 1; cut <= lastLength; cut += 1) {
      await opensComplete(source, wholeWithin(log, log.length - cut), (bench) =>
        bench.setFile(LOG, log.subarray(0, log.length - cut)),
      );
    }
  });

  it("of the op records is cut at every byte of the last ones", async () => {
    const source = await written(30);
    const ops = await source.bench.fileBytes(OPS);
    for (let cut = 1; cut <= 140; cut += 1) {
      const { bench } = source;
      const files = [await bench.fileBytes(LOG), ops] as const;
      await bench.setFile(OPS, ops.subarray(0, ops.length - cut));
      await bench.open();
      assert.equal(bench.partition.fault, undefined);
      const seen = await bench.readAll();
      assert.deepEqual(seen, source.all.slice(0, seen.length));
      assert.ok(seen.length >= 20);
      assert.ok(
        (await bench.append(["next"])) >= source.all.length,
        "the log proves which offsets were given",
      );
      await bench.close();
      await putBack(bench, files);
    }
  });

  it("of the records of a group is cut at every byte, though all its messages are there", async () => {
    const bench = await Bench.open();
    await bench.append(["one"]);
    const { length } = await bench.fileBytes(OPS);
    await Promise.all([bench.storeOffset(1, 1, 0), bench.append(["two"]), bench.storeOffset(1, 2, 0)]);
    bench.disk = bench.disk.kill();
    await bench.abandon();
    const files = [await bench.fileBytes(LOG), await bench.fileBytes(OPS)] as const;
    for (let end = length; end < files[1].length; end += 1) {
      await bench.setFile(OPS, files[1].subarray(0, end));
      await bench.open();
      assert.equal(bench.partition.fault, undefined, `${end - length} bytes of the records`);
      await bench.close();
      await putBack(bench, files);
    }
  });

  it("of zeros, of 0xFF or of an earlier batch is not served as messages", async () => {
    const source = await written(200);
    const log = await source.bench.fileBytes(LOG);
    const view = new DataView(log.buffer, log.byteOffset, log.byteLength);
    const earlier = log.subarray(0, batchLengthAt(view, 0));
    const last = log.subarray(lastBatchStart(log));
    const garbage = [1, 48, 10_000].flatMap((length) => [
      new Uint8Array(length),
      new Uint8Array(length).fill(255),
    ]);
    for (const appended of [...garbage, earlier, last]) {
      await opensComplete(source, source.all.length, (bench) => bench.setFile(LOG, joined(log, appended)));
    }
    const ops = await source.bench.fileBytes(OPS);
    for (const appended of [...garbage, ops.subarray(ops.length - 128)]) {
      await opensComplete(source, source.all.length, (bench) => bench.setFile(OPS, joined(ops, appended)));
    }
  });

  it("of one replica of several leaves no hole: the others decide what follows", async () => {
    const { bench, all } = await written(30);
    await bench.setFile(LOG, (await bench.fileBytes(LOG)).slice(0, -1));
    await bench.open({ isReplica: true });
    assert.equal(bench.partition.nextOffset, all.length - 1, "the torn message's offset is free");
    assert.equal(await bench.append(["agreed on"]), all.length - 1);
    await bench.close();
  });

  it("leaves a hole that is no message, also when a second kill comes before the next one", async () => {
    const { bench, all } = await written(30);
    await bench.setFile(LOG, (await bench.fileBytes(LOG)).slice(0, -1));
    for (let start = 0; start < 3; start += 1) {
      await bench.open();
      assert.equal(bench.partition.committedNextOffset, all.length - 1, "the end is behind the last message");
      assert.equal(bench.partition.nextOffset, all.length, "the torn message's offset is not given again");
      bench.disk = bench.disk.kill();
      await bench.abandon();
    }
    await bench.open();
    assert.deepEqual(await bench.readAll(), all.slice(0, -1));
    await bench.close();
  });

  it("is kept whole in quarantine and told in the log", async () => {
    const { bench } = await written(20);
    const log = await bench.fileBytes(LOG);
    const appended = new Uint8Array(100).fill(7);
    await bench.setFile(LOG, joined(log, appended));
    await bench.open();
    const kept = await bench.disk.readDirectory("quarantine");
    assert.equal(kept.length, 1);
    assert.deepEqual(await bench.disk.readWhole(`quarantine/${kept[0]?.name}`, 1000), appended);
    assert.ok(bench.lines.some((line) => line.level === "warn" && line.facts?.["position"] === log.length));
    await bench.close();
  });

  it("is left as it is in the role read-only, and what is good is served", async () => {
    const { bench, all } = await written(20);
    const torn = (await bench.fileBytes(LOG)).slice(0, -10);
    await bench.setFile(LOG, torn);
    await bench.open({ role: "read-only" });
    const seen = await bench.readAll();
    assert.deepEqual(seen, all.slice(0, seen.length));
    assert.ok(seen.length >= 15);
    await assert.rejects(bench.append(["no"]), { name: "InvalidArgument" });
    await bench.close();
    assert.deepEqual(await bench.fileBytes(LOG), torn);
    assert.deepEqual(await bench.disk.readDirectory("quarantine"), []);
  });
});

function lastBatchStart(log: Uint8Array): number {
  const view = new DataView(log.buffer, log.byteOffset, log.byteLength);
  let at = 0;
  while (at + batchLengthAt(view, at) < log.length) at += batchLengthAt(view, at);
  return at;
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}
