import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ErrorCode, isCodedError } from "@millrace/errors";
import { BATCH_HEADER_LENGTH, batchLengthAt, FRAME_HEADER_LENGTH, messageCountAt } from "@millrace/framing";
import { createNodeCipher } from "@millrace/platform/node";
import { SimRandom } from "@millrace/platform/sim";
import { SeededRandom, toHex, utf8 } from "@millrace/testkit";
import { Bench, type BenchOptions, kernel, name, PATH } from "../partition/partition-fixture.test.ts";
import type { ReadRequest } from "../partition/partition-reader.ts";
import { BatchCipher } from "./batch-cipher.ts";

const CANARY = "canary-of-the-mine";
const cipherOf = (byte: number) => createNodeCipher(new Uint8Array(32).fill(byte), new SimRandom(byte));

/** Two hundred messages in batches of 1 to 12, most of them small, some of 20 KB. */
async function written(
  options: BenchOptions,
  isSealedAt: (count: number) => boolean = () => false,
): Promise<Bench> {
  const bench = await Bench.open({ segmentLengthMax: 40_000, ...options });
  bench.isNumbered = true;
  const random = new SeededRandom(5);
  for (let count = 0; count < 200; ) {
    const texts = Array.from({ length: 1 + random.below(12) }, (_, index) => {
      const filler = random.fraction() < 0.03 ? 20_000 : random.below(400);
      return `${count + index} ${CANARY} ${"x".repeat(filler)}`;
    });
    bench.isSealed = isSealedAt(count);
    await bench.append(texts);
    count += texts.length;
  }
  return bench;
}

/** Everything that reads from many places answer, before and after a restart. */
async function servedBy(options: BenchOptions, isSealedAt?: (count: number) => boolean): Promise<string[]> {
  const bench = await written(options, isSealedAt);
  const served: string[] = [];
  for (const isAgain of [false, true]) {
    if (isAgain) await bench.reopen();
    for (let offset = 0; offset < bench.partition.nextOffset; offset += 9) {
      for (const count of [1, 5, 60]) served.push(await rawOf(bench, { from: { offset }, count }));
    }
    for (let timestamp = 1000; timestamp < 1060; timestamp += 3) {
      served.push(await rawOf(bench, { from: { timestamp }, count: 2 }));
    }
  }
  await bench.close();
  return served;
}

async function rawOf(bench: Bench, request: Omit<ReadRequest, "lengthMax">): Promise<string> {
  const result = await bench.readRaw({ ...request, lengthMax: 1_000_000 });
  const bytes = Buffer.concat(result.parts).toString("hex");
  result.release();
  return bytes;
}

describe("an encrypted partition", () => {
  it("serves from memory and from disk exactly what one that is not encrypted serves", async () => {
    const expected = await servedBy({});
    for (const tailLengthMax of [0, 10_000, 1_048_576]) {
      const validateChecksums = tailLengthMax > 0;
      const served = await servedBy({ cipher: cipherOf(1), tailLengthMax, validateChecksums });
      assert.deepEqual(served, expected, `a tail of ${tailLengthMax} bytes`);
    }
  });

  it("serves the same where other replicas have encrypted the batches, all or some by turns", async () => {
    const expected = await servedBy({});
    for (const isSealedAt of [
      () => true,
      (count: number) => count % 60 < 30,
      (count: number) => count < 90,
    ]) {
      assert.deepEqual(await servedBy({ cipher: cipherOf(1) }, isSealedAt), expected);
    }
  });

  it("remembers of a send the same whoever has encrypted it, at once and after a restart", async () => {
    const remembered = async (isSealed: boolean) => {
      const bench = await written({ cipher: cipherOf(1) }, () => isSealed);
      const seen = [];
      for (const isAgain of [false, true]) {
        if (isAgain) await bench.kill();
        const { partition } = bench;
        for (let number = 1; number <= partition.lastOp; number += 1)
          seen.push(partition.rememberedRequest((7n << 64n) | 5n, 1, BigInt(number)));
      }
      await bench.close();
      return seen;
    };
    const own = await remembered(false);
    assert.ok(own.at(-1) !== undefined);
    assert.deepEqual(await remembered(true), own);
  });

  it("takes no batch in clear", async () => {
    const bench = await Bench.open({ cipher: cipherOf(1) });
    const clear = await Bench.open({ pool: bench.pool });
    clear.partition = bench.partition;
    await assert.rejects(clear.append([CANARY]), /what is stored is encrypted where the directory is/);
    await bench.close();
  });

  it("holds no message in clear in any file, also after a torn tail, a truncation and a purge", async () => {
    const bench = await written({ cipher: cipherOf(1) });
    const search = async () => {
      let found = 0;
      for (const path of await filesOf(bench, "")) {
        const bytes = await bench.disk.readWhole(path, 100_000_000);
        if (toHex(bytes ?? new Uint8Array()).includes(toHex(utf8(CANARY)))) found += 1;
      }
      return found;
    };
    assert.equal(await search(), 0);
    const count = (await bench.readAll()).length;
    await bench.append([CANARY]);
    bench.disk = bench.disk.kill();
    await bench.abandon();
    const log = (await bench.fileNames()).filter((file) => file.endsWith(".log")).at(-1) ?? "";
    const bytes = await bench.fileBytes(log);
    await bench.setFile(log, bytes.subarray(0, bytes.length - 1));
    await bench.open();
    assert.equal((await bench.readAll()).length, count);
    const files = await filesOf(bench, "");
    assert.ok(
      files.some((path) => path.includes("quarantine")),
      files.join(),
    );
    await bench.append(Array.from({ length: 20 }, () => CANARY));
    await bench.truncate(100);
    assert.equal(await search(), 0);
    await bench.purge();
    await bench.append([CANARY, CANARY]);
    assert.deepEqual(
      (await bench.readAll()).map(({ text }) => text),
      [CANARY, CANARY],
    );
    assert.equal(await search(), 0);
    await bench.close();
  });

  it("answers PartitionDamaged with file and position where a batch does not open, and serves the rest", async () => {
    const bench = await written({ cipher: cipherOf(1), tailLengthMax: 0 });
    const all = await bench.readAll();
    await bench.close();
    const file = name(0, "log");
    const bytes = (await bench.fileBytes(file)).slice();
    const first = batchLengthAt(new DataView(bytes.buffer), 0);
    const second = batchLengthAt(new DataView(bytes.buffer), first);
    const at = first + BATCH_HEADER_LENGTH + FRAME_HEADER_LENGTH + 50;
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    reseal(bench, bytes.subarray(first, first + second));
    await bench.setFile(file, bytes);
    await bench.open();
    const view = new DataView(bytes.buffer);
    const lost = messageCountAt(view, 0);
    const behind = lost + messageCountAt(view, first);
    await assert.rejects(bench.read(lost), (error) => {
      assert.ok(isCodedError(error, ErrorCode.PartitionDamaged));
      assert.deepEqual([error.details["path"], error.details["position"]], [`${PATH}/${file}`, first]);
      return true;
    });
    const good = all.filter(({ offset }) => offset < lost || offset >= behind);
    assert.ok(good.length < all.length);
    for (const { offset, text } of good) assert.deepEqual(await bench.read(offset, 1), [{ offset, text }]);
    await bench.close();
  });

  it("serves nothing at all under another key", async () => {
    const bench = await written({ cipher: cipherOf(1) });
    await bench.close();
    const other = new BatchCipher({ cipher: cipherOf(2), kernel, pool: bench.pool });
    await bench.open({ batchCipher: other });
    for (const offset of [0, 50, 199]) {
      await assert.rejects(bench.read(offset), (error) => isCodedError(error, ErrorCode.PartitionDamaged));
    }
    await bench.close();
  });
});

/** Gives a changed batch right checksums: what remains wrong is the seal. */
function reseal({ pool }: Bench, batch: Uint8Array): void {
  const block = pool.allocate(batch.length);
  assert.ok(block);
  block.bytes.set(batch);
  kernel.sealBatch(block.position, batch.length);
  batch.set(block.bytes.subarray(0, batch.length));
  block.release();
}

async function filesOf(bench: Bench, folder: string): Promise<string[]> {
  const files: string[] = [];
  for (const { name: entry, kind } of await bench.disk.readDirectory(folder)) {
    const path = folder === "" ? entry : `${folder}/${entry}`;
    if (kind === "directory") files.push(...(await filesOf(bench, path)));
    else files.push(path);
  }
  return files;
}
