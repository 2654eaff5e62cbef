import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { SimDisk } from "@millrace/platform/sim";
import { syncUpwards } from "../data-directory/durable-directory.ts";
import { Bench, name, PATH } from "../partition/partition-fixture.test.ts";

/** Files of segments that a truncation takes away, in the order in which they are removed. */
async function truncated(): Promise<{ bench: Bench; doomed: string[] }> {
  const bench = await Bench.open({ segmentLengthMax: 2000, tailLengthMax: 0 });
  for (let at = 0; at < 30; at += 1) await bench.append([`message ${at}`]);
  const sealed = bench.partition.sealedSegments();
  const mark = sealed[2]?.firstOffset ?? 0;
  const doomed = sealed
    .filter(({ lastOffset }) => lastOffset < mark)
    .flatMap(({ firstOffset }) => ["index", "log", "ops"].map((kind) => name(firstOffset, kind)));
  const kept = new Map<string, Uint8Array>();
  for (const file of doomed) kept.set(file, await bench.fileBytes(file));
  await bench.truncate(mark);
  bench.disk = bench.disk.kill();
  await bench.abandon();
  bench.lines.length = 0;
  for (const [file, bytes] of kept) await bench.setFile(file, bytes);
  return { bench, doomed };
}

describe("segments whose removal a kill cut short", () => {
  it("are no news in the log, however far their removal came", async () => {
    const { doomed } = await truncated();
    assert.ok(doomed.length >= 6);
    for (let removed = 0; removed <= doomed.length; removed += 1) {
      const { bench } = await truncated();
      for (const file of doomed.slice(0, removed)) await bench.disk.removeFile(`${PATH}/${file}`);
      await bench.open();
      const alarms = bench.lines.filter(({ level }) => level === "error" || level === "warn");
      assert.deepEqual(alarms, [], `${removed} files were gone`);
      assert.equal(bench.partition.fault, undefined);
      assert.equal((await bench.readAll()).at(-1)?.text, "message 29");
      await bench.close();
      const names = await bench.fileNames();
      assert.deepEqual(
        names.filter((file) => doomed.includes(file)),
        [],
      );
    }
  });

  it("are removed at the next start only once it survives power loss that they are gone", async () => {
    for (let seed = 1; seed <= 20; seed += 1) {
      const bench = await Bench.open({ segmentLengthMax: 2000, disk: new SimDisk({ seed }) });
      await syncUpwards(bench.disk, PATH);
      for (let at = 0; at < 30; at += 1) await bench.append([`message ${at}`]);
      const mark = bench.partition.sealedSegments()[2]?.firstOffset ?? 0;
      await bench.truncate(mark);
      await bench.kill();
      await bench.partition.filesRemoved();
      assert.ok(!(await bench.fileNames()).includes(name(0, "log")));
      bench.disk = bench.disk.crash();
      await bench.abandon();
      bench.lines.length = 0;
      await bench.open();
      // Bytes of sealed segments may be lost on such a topic, and are told; removed files are no loss.
      const missing = bench.lines.filter(({ message }) => message.startsWith("A segment file is missing"));
      assert.deepEqual(missing, [], `seed ${seed}`);
      assert.equal(bench.partition.firstOffset, mark, `seed ${seed}`);
      await bench.close();
    }
  });
});
