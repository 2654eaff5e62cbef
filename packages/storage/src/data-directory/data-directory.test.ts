import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ErrorCode, isCodedError } from "@millrace/errors";
import { SimDisk } from "@millrace/platform/sim";
import { utf8 } from "@millrace/testkit";
import { checkDataFormat, FORMAT_FILE, lockDataDirectory, writeDataFormat } from "./data-directory.ts";

describe("the data directory", () => {
  it("is locked by one process at a time", async () => {
    const disk = new SimDisk();
    const lock = await lockDataDirectory(disk);
    await assert.rejects(lockDataDirectory(disk), (error) =>
      isCodedError(error, ErrorCode.DataDirectoryInUse),
    );
    await lock.release();
    await (await lockDataDirectory(disk)).release();
  });

  it("is free when empty, and ours once the format is written", async () => {
    const disk = new SimDisk();
    const lock = await lockDataDirectory(disk);
    await disk.writeWhole(".DS_Store", utf8("x"));
    await disk.makeDirectory("lost+found");
    assert.equal(await checkDataFormat(disk), undefined);
    await writeDataFormat(disk, 3);
    assert.deepEqual(await checkDataFormat(disk), { version: 1, nodeId: 3, keyCheck: undefined });
    await lock.release();
  });

  it("is refused, naming what was found, when it holds somebody else's files", async () => {
    const disk = new SimDisk();
    await disk.writeWhole("thesis.doc", utf8("x"));
    await assert.rejects(
      checkDataFormat(disk),
      (error) => isCodedError(error, ErrorCode.ForeignDataDirectory) && error.message.includes("thesis.doc"),
    );
  });

  it("is refused when another product or a later version wrote it, or the format is unreadable", async () => {
    const cases = [
      ['{"product":"other","version":1,"nodeId":0}', ErrorCode.ForeignDataDirectory],
      ['{"product":"millrace","version":3,"nodeId":0}', ErrorCode.FormatTooNew],
      [
        '{"product":"millrace","version":2,"nodeId":0,"encryption":{"cipher":"rot13","keyCheck":"00"}}',
        ErrorCode.ForeignDataDirectory,
      ],
      ['{"product":"millrace","version":2,"nodeId":0,"encryption":null}', ErrorCode.ForeignDataDirectory],
      ['{"product":"millrace","version":1}', ErrorCode.ForeignDataDirectory],
      ["", ErrorCode.ForeignDataDirectory],
      ["null", ErrorCode.ForeignDataDirectory],
    ] as const;
    for (const [text, code] of cases) {
      const disk = new SimDisk();
      await disk.writeWhole(FORMAT_FILE, utf8(text));
      await assert.rejects(checkDataFormat(disk), (error) => isCodedError(error, code), text);
    }
  });

  it("is refused when it holds the data of another node", async () => {
    const disk = new SimDisk();
    await writeDataFormat(disk, 3);
    await assert.rejects(
      checkDataFormat(disk, 0),
      (error) =>
        isCodedError(error, ErrorCode.ForeignDataDirectory) &&
        error.message.includes("holds the data of node 3, and this is node 0"),
    );
    assert.deepEqual(await checkDataFormat(disk, 3), { version: 1, nodeId: 3, keyCheck: undefined });
  });

  it("is unusable when it cannot be written", async () => {
    const disk = new SimDisk({ faults: () => ({ kind: "error", errno: "EROFS" }) });
    const isUnusable = (error: unknown) => isCodedError(error, ErrorCode.DataDirectoryUnusable);
    await assert.rejects(lockDataDirectory(disk), isUnusable);
    await assert.rejects(writeDataFormat(disk, 0), isUnusable);
    await assert.rejects(checkDataFormat(disk), isUnusable);
  });
});
