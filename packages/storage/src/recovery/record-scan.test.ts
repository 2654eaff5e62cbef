import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ChecksumKernel } from "@millrace/framing";
import { SimDisk } from "@millrace/platform/sim";
import {
  NO_OP_HEADER,
  RecordKind,
  recordLength,
  sealRecord,
  writeRecordHeader,
} from "../op-record/record.ts";
import { viewOver } from "../op-record/u64-field.ts";
import { Bench, kernel, name } from "../partition/partition-fixture.test.ts";
import { writeAt } from "../segment/file-calls.ts";
import { OP_RECORD_LENGTH_MAX } from "./harmed-record.ts";
import { scanRecords, TRIED_RECORDS_MAX } from "./record-scan.ts";

const BODY = 13;
const LENGTH = recordLength(BODY);
/** Checksums that it takes to try each bit of a harmed record, and the one that finds it harmed. */
const CHECKSUMS_A_TRY = 8 * OP_RECORD_LENGTH_MAX + 1;

function record(op: number): Uint8Array {
  const bytes = new Uint8Array(LENGTH);
  const view = viewOver(bytes);
  const parts = { kind: RecordKind.operation, bodyLength: BODY, commit: 0 };
  writeRecordHeader(view, 0, { ...NO_OP_HEADER, op }, parts);
  sealRecord(kernel, bytes, view, { position: 0, length: LENGTH });
  return bytes;
}

function flip(bytes: Uint8Array, ...places: readonly number[]): Uint8Array {
  for (const at of places) bytes[at] = (bytes[at] ?? 0) ^ 1;
  return bytes;
}

/** A kernel that counts the bytes' checksums it is asked for. */
function countingKernel(): { readonly kernel: ChecksumKernel; count: number } {
  const hashBytes = (bytes: Uint8Array) => {
    counting.count += 1;
    return kernel.hashBytes(bytes);
  };
  const wrapped = new Proxy(kernel, {
    get: (target, key) => {
      if (key === "hashBytes") return hashBytes;
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const counting = { kernel: wrapped, count: 0 };
  return counting;
}

/** Scans the records; answers what was handed over, and how many checksums that took. */
async function scanned(records: readonly Uint8Array[], chunkLength?: number) {
  const file = await new SimDisk().openFile("a.ops", "create");
  for (const [at, bytes] of records.entries()) await writeAt(file, bytes, at * LENGTH);
  const counting = countingKernel();
  const found: { readonly op: number; readonly isChanged: boolean }[] = [];
  const range = { file, kernel: counting.kernel, from: 0, end: records.length * LENGTH, chunkLength };
  const end = await scanRecords(
    range,
    (some) => {
      for (const {
        record: { header },
        isChanged,
      } of some)
        found.push({ op: header.op, isChanged });
      return true;
    },
    "search-changed",
  );
  assert.equal(end, records.length * LENGTH);
  return { found, checksums: counting.count };
}

describe("A search for records in which one bit was changed", () => {
  it("tries only so many of a long stretch of harmed ones, and finds what is good behind them", async () => {
    const count = 4 * TRIED_RECORDS_MAX;
    const harmed = Array.from({ length: count }, (_, at) => flip(record(at + 1), 60, 100));
    const records = [...harmed, flip(record(count + 1), 100), record(count + 2)];
    for (const chunkLength of [undefined, 4 * LENGTH]) {
      const { found, checksums } = await scanned(records, chunkLength);
      assert.deepEqual(found, [{ op: count + 2, isChanged: false }]);
      // What runs past a chunk is looked at again with the next one.
      const most = TRIED_RECORDS_MAX * CHECKSUMS_A_TRY + 2 * records.length;
      assert.ok(checksums > most / 2 && checksums <= most, `${checksums} of ${most}`);
    }
  });

  it("hands over every changed one as long as there are not more than that", async () => {
    const records = Array.from({ length: TRIED_RECORDS_MAX }, (_, at) => flip(record(at + 1), 100));
    const { found } = await scanned([record(0), ...records, record(TRIED_RECORDS_MAX + 1)]);
    const ops = records.map((_, at) => ({ op: at + 1, isChanged: true }));
    assert.deepEqual(found.slice(1, -1), ops);
    assert.equal(found.length, TRIED_RECORDS_MAX + 2);
  });

  it("keeps a start short that finds thousands of harmed records", async () => {
    const bench = await Bench.open({ tailLengthMax: 0 });
    await bench.append(["m"]);
    const stored = Array.from({ length: 1000 }, () => bench.storeOffset(1, 7, 0));
    await Promise.all(stored);
    bench.disk = bench.disk.kill();
    await bench.abandon();
    const ops = await bench.fileBytes(name(0, "ops"));
    const first = ops.length - 900 * LENGTH;
    for (let at = first; at < ops.length; at += LENGTH) flip(ops, at + 60, at + 100);
    await bench.setFile(name(0, "ops"), ops);
    const counting = countingKernel();
    await bench.open({ kernel: counting.kernel });
    assert.ok(bench.partition.fault !== undefined);
    const scans = 3;
    const most = scans * (TRIED_RECORDS_MAX * CHECKSUMS_A_TRY + 1000);
    assert.ok(counting.count > 900 && counting.count <= most, `${counting.count} of ${most}`);
    await bench.close();
  });
});
