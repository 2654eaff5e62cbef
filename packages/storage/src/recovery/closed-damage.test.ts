import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode, isCodedError } from "@millrace/errors";
import { Bench, name, PATH } from "../partition/partition-fixture.test.ts";

test("a changed record in front of the mark of a clean close puts the offsets in doubt, not back", async () => {
  const bench = await Bench.open();
  await bench.append(["a", "b"]);
  await bench.storeOffset(1, 7, 0);
  const opsName = (await bench.fileNames()).find((file) => file.endsWith(".ops")) ?? "";
  const position = (await bench.fileBytes(opsName)).length;
  await bench.storeOffset(1, 7, 1);
  await bench.close();
  // Without the index the mark alone is not believed, and the records are replayed.
  for (const file of await bench.fileNames()) {
    if (file.endsWith(".index")) await bench.disk.removeFile(`${PATH}/${file}`);
  }
  bench.disk.flipBit(`${PATH}/${opsName}`, (position + 97) * 8);
  await bench.open();
  const { fault, offsetsFault } = bench.partition;
  assert.ok(isCodedError(fault, ErrorCode.PartitionDamaged));
  assert.ok(
    isCodedError(offsetsFault, ErrorCode.PartitionDamaged),
    "the offset is not said to be the one before",
  );
  await bench.close();
});

test("a changed bit beside zeros that were sent is damage when the partition was closed cleanly behind it", async () => {
  const bench = await Bench.open({ durability: "persisted", tailLengthMax: 0 });
  await bench.append(["first"]);
  const position = (await bench.fileBytes(name(0, "log"))).length;
  await bench.append(["\0".repeat(2000)]);
  await bench.close();
  bench.disk.flipBit(`${PATH}/${name(0, "log")}`, (position + 1500) * 8);
  await bench.open();
  assert.ok(isCodedError(bench.partition.fault, ErrorCode.PartitionDamaged));
  await assert.rejects(bench.read(1), (error) => isCodedError(error, ErrorCode.PartitionDamaged));
  await bench.close();
});
