import assert from "node:assert/strict";
import { test } from "node:test";
import zlib from "node:zlib";
import { ErrorCode, isCodedError } from "@millrace/errors";
import { unzipSync } from "fflate";
import { zipFile } from "./zip-file.ts";

const text = (bytes: Uint8Array | undefined) => new TextDecoder().decode(bytes);
const ENTRIES = [
  { name: "one.txt", bytes: Buffer.from("one ".repeat(10_000)) },
  { name: "empty.txt", bytes: new Uint8Array(0) },
  { name: "köln.txt", bytes: Buffer.from("ß") },
];

test("A stored and a deflated ZIP file hold what was put in, and deflating makes it shorter.", async () => {
  const stored = await zipFile(ENTRIES, "stored");
  const deflated = await zipFile(ENTRIES, "deflated");
  for (const zip of [stored, deflated]) {
    const files = unzipSync(zip);
    assert.deepEqual(Object.keys(files), ["one.txt", "empty.txt", "köln.txt"]);
    for (const { name, bytes } of ENTRIES) assert.equal(text(files[name]), text(bytes), name);
  }
  assert.ok(stored.length > 40_000 && deflated.length < 2000, `${stored.length}, ${deflated.length}`);
});

test("The checksum of each file is the one readers check.", async () => {
  const zip = await zipFile([{ name: "a", bytes: Buffer.from("123456789") }], "stored");
  const central = Buffer.from(zip).indexOf(Buffer.from("PK\x01\x02", "latin1"));
  assert.equal(Buffer.from(zip).readUInt32LE(central + 16), 0xcbf43926);
});

test("Compressions that are not built are refused by name; zstd is one where Node lacks it.", async () => {
  const refused = (name: string) => (error: unknown) =>
    isCodedError(error, ErrorCode.FeatureUnavailable) && error.message.includes(`with ${name} here`);
  for (const name of ["bzip2", "lzma", "xz"] as const) {
    await assert.rejects(zipFile(ENTRIES, name), refused(name));
  }
  if (!("zstdCompress" in zlib)) return assert.rejects(zipFile(ENTRIES, "zstd"), refused("zstd"));
  const zip = Buffer.from(await zipFile(ENTRIES, "zstd"));
  const central = zip.indexOf(Buffer.from("PK\x01\x02", "latin1"));
  assert.deepEqual([zip.readUInt16LE(8), zip.readUInt16LE(central + 10)], [93, 93]);
});
