import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ErrorCode, isCodedError } from "@millrace/errors";
import { createNodeCipher } from "@millrace/platform/node";
import { SimDisk, SimRandom } from "@millrace/platform/sim";
import { checkDataFormat, writeDataFormat } from "../data-directory/data-directory.ts";
import { checkEncryption, makeKeyCheck } from "./key-check.ts";

const cipherOf = (byte: number) => createNodeCipher(new Uint8Array(32).fill(byte), new SimRandom(byte));

async function formatOf(keyCheck?: Uint8Array) {
  const disk = new SimDisk();
  await writeDataFormat(disk, 0, keyCheck);
  const format = await checkDataFormat(disk);
  assert.ok(format);
  return { disk, format };
}

function refusal(pattern: RegExp) {
  return (error: unknown) =>
    isCodedError(error, ErrorCode.InvalidEncryptionKey) && pattern.test(error.message);
}

describe("an encrypted data directory", () => {
  it("is opened by its key and refuses another one, none, and a seal that was cut", async () => {
    const keyCheck = makeKeyCheck(cipherOf(1));
    const { disk, format } = await formatOf(keyCheck);
    assert.equal(format.version, 2);
    checkEncryption(disk, format, cipherOf(1));
    assert.throws(() => checkEncryption(disk, format, cipherOf(2)), refusal(/with another key/));
    assert.throws(() => checkEncryption(disk, format, undefined), refusal(/Set encryption.enabled to true/));
    const cut = await formatOf(keyCheck.subarray(1));
    assert.throws(() => checkEncryption(disk, cut.format, cipherOf(1)), refusal(/with another key/));
  });

  it("does not come of one that holds messages in clear", async () => {
    const { disk, format } = await formatOf();
    checkEncryption(disk, format, undefined);
    assert.throws(() => checkEncryption(disk, format, cipherOf(1)), refusal(/is not encrypted/));
  });
});
