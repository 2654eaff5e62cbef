import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { test } from "node:test";
import { LINE_BYTES_MAX, LineTooLongError, linesOf, readOneLine } from "./lines.ts";

async function textsOf(chunks: readonly string[]): Promise<string[]> {
  const texts: string[] = [];
  for await (const lines of linesOf(Readable.from(chunks))) {
    for (const line of lines) texts.push(Buffer.from(line).toString());
  }
  return texts;
}

test("lines are cut wherever the chunks end", async () => {
  const text = "one\r\ntwo\n\nthree – drei\nlast";
  const expected = ["one", "two", "", "three – drei", "last"];
  const bytes = Buffer.from(text);
  for (let length = 1; length <= bytes.length; length++) {
    const chunks: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += length) chunks.push(bytes.subarray(at, at + length));
    const texts: string[] = [];
    for await (const lines of linesOf(Readable.from(chunks)))
      texts.push(...lines.map((line) => Buffer.from(line).toString()));
    assert.deepEqual(texts, expected, `chunks of ${length}`);
  }
});

test("a file that ends with a newline has no empty line after it", async () => {
  assert.deepEqual(await textsOf(["a\nb\n"]), ["a", "b"]);
  assert.deepEqual(await textsOf([]), []);
});

test("a line that no message can carry is refused with its number", async () => {
  const big = Buffer.alloc(LINE_BYTES_MAX / 2 + 1, 120);
  const source = Readable.from([Buffer.from("first\n"), big, big]);
  await assert.rejects(
    async () => {
      for await (const lines of linesOf(source)) assert.equal(lines.length, 1);
    },
    (error) => error instanceof LineTooLongError && error.lineNumber === 2,
  );
});

test("reading one line leaves the rest of the stream to the next reader", async () => {
  const stream = Readable.from([Buffer.from("sec"), Buffer.from("ret\r\nfirst\nsec"), Buffer.from("ond\n")]);
  assert.equal(await readOneLine(stream), "secret");
  const texts: string[] = [];
  for await (const lines of linesOf(stream)) texts.push(...lines.map((line) => Buffer.from(line).toString()));
  assert.deepEqual(texts, ["first", "second"]);
});

test("a stream that ends without a byte has no line", async () => {
  assert.equal(await readOneLine(Readable.from([])), undefined);
  assert.equal(await readOneLine(Readable.from([Buffer.from("only")])), "only");
});
