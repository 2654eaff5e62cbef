import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode, isCodedError } from "@millrace/errors";
import { Bench, PATH } from "../partition/partition-fixture.test.ts";

test("a changed record in front of the mark of a clean close puts the offsets in doubt, not back", async () => {
  const bench = await Bench.open();
  await bench.append(["a", "b"]);
  await bench.storeOffset(1, 7, 0);
  const opsName = (await bench.fileNames()).find((name) => name.endsWith(".ops")) ?? "";
  const position = (await bench.fileBytes(opsName)).length;
  await bench.storeOffset(1, 7, 1);
  await bench.close();
  // Without the index the mark alone is not believed, and the records are replayed.
  for (const name of await bench.fileNames()) {
    if (name.endsWith(".index")) await bench.disk.removeFile(`${PATH}/${name}`);
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
