import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { join } from "node:path";
import { properties, tableRows } from "./iggy-command.mjs";

/** Offsets and payloads of a poll, `[["0", "text"], ...]`. */
async function poll(iggy, ...words) {
  const rows = tableRows(await iggy.do("message", "poll", ...words));
  return rows.slice(1).map((row) => [row[0], row[4]]);
}

const headers =
  "text:string:a value,yes:bool:true,tiny:int8:-7,small:int16:-300,mid:int32:-70000,big:int64:-5000000000," +
  "huge:int128:-99999999999999999999,utiny:uint8:200,usmall:uint16:60000,umid:uint32:4000000000," +
  "ubig:uint64:18446744073709551615,uhuge:uint128:340282366920938463463374607431768211455," +
  "half:float32:0.5,tenth:float64:0.1";

/** Sending and polling by command; they use the stream `dev`. Each case: `(iggy, { home }) => Promise`. */
export const messageCases = {
  "messages for a partition are polled by offset, first and last": async (iggy) => {
    await iggy.do("topic", "create", "dev", "lines", "2", "none");
    await iggy.do("message", "send", "--partition-id", "1", "dev", "lines", "zero", "one", "two");
    await iggy.do("message", "send", "--partition-id", "1", "dev", "lines", "three");
    const target = ["dev", "lines", "1"];
    assert.deepEqual(await poll(iggy, "--offset", "1", "-m", "2", ...target), [
      ["1", "one"],
      ["2", "two"],
    ]);
    assert.deepEqual(await poll(iggy, "--first", ...target), [["0", "zero"]]);
    assert.deepEqual(await poll(iggy, "--last", "-m", "2", ...target), [
      ["2", "two"],
      ["3", "three"],
    ]);
    assert.deepEqual(await poll(iggy, "--offset", "4", "-m", "9", ...target), []);
    assert.deepEqual(await poll(iggy, "--first", "dev", "lines", "0"), []);
  },

  "next with auto-commit goes on where the consumer stopped": async (iggy) => {
    const words = ["--next", "--auto-commit", "-m", "3", "--consumer", "reader", "dev", "lines", "1"];
    assert.deepEqual(
      (await poll(iggy, ...words)).map(([offset]) => offset),
      ["0", "1", "2"],
    );
    assert.deepEqual(await poll(iggy, ...words), [["3", "three"]]);
    assert.deepEqual(await poll(iggy, ...words), []);
    const other = ["--next", "-m", "1", "--consumer", "5", "dev", "lines", "1"];
    assert.deepEqual(await poll(iggy, ...other), [["0", "zero"]]);
    assert.deepEqual(await poll(iggy, ...other), [["0", "zero"]]);
  },

  "messages of one key share a partition": async (iggy) => {
    await iggy.do("topic", "create", "dev", "keyed", "4", "none");
    for (const text of ["a", "b", "c"])
      await iggy.do("message", "send", "--message-key", "one-key", "dev", "keyed", text);
    const counts = [];
    for (const partition of ["0", "1", "2", "3"])
      counts.push((await poll(iggy, "--first", "-m", "9", "dev", "keyed", partition)).length);
    assert.deepEqual(counts.sort(), [0, 0, 0, 3]);
  },

  "lines of the standard input become one message each, balanced over partitions": async (iggy) => {
    const before = Number(properties(await iggy.do("topic", "get", "dev", "keyed"))["Topic message count"]);
    await iggy.doWithInput("first line\nsecond line\nthird line\n", "message", "send", "dev", "keyed");
    const after = Number(properties(await iggy.do("topic", "get", "dev", "keyed"))["Topic message count"]);
    assert.equal(after - before, 3);
  },

  "headers of every kind are sent and shown": async (iggy) => {
    await iggy.do("topic", "create", "dev", "headers", "1", "none");
    await iggy.do(
      "message",
      "send",
      "--partition-id",
      "0",
      "--headers",
      headers,
      "dev",
      "headers",
      "with headers",
    );
    const output = await iggy.do("message", "poll", "--first", "--show-headers", "dev", "headers", "0");
    const [names, , values] = tableRows(output);
    const shown = Object.fromEntries(
      names.map((name, index) => [name.replace("Header: ", ""), values[index]]),
    );
    for (const header of headers.split(",")) {
      const [key, , value] = header.split(":");
      assert.equal(shown[key], value, output);
    }
  },

  "polled messages are kept in a file and sent again from it": async (iggy, { home }) => {
    const file = join(home, "kept.bin");
    await iggy.do("message", "poll", "--first", "-m", "4", "--output-file", file, "dev", "lines", "1");
    assert.ok(statSync(file).size > 4 * 48);
    await iggy.do("topic", "create", "dev", "replayed", "1", "none");
    await iggy.do("message", "send", "--partition-id", "0", "--input-file", file, "dev", "replayed");
    const payloads = (await poll(iggy, "--first", "-m", "9", "dev", "replayed", "0")).map(
      ([, payload]) => payload,
    );
    assert.deepEqual(payloads, ["zero", "one", "two", "three"]);
  },

  "sending to and polling from what is missing is refused": async (iggy) => {
    await iggy.refuse("not found", ["message", "send", "--partition-id", "9", "dev", "lines", "x"]);
    await iggy.refuse("not found", ["message", "send", "--partition-id", "0", "dev", "missing", "x"]);
    await iggy.refuse("not found", ["message", "poll", "--first", "dev", "lines", "9"]);
    await iggy.refuse("not found", ["message", "poll", "--first", "missing", "lines", "0"]);
  },

  "purging a topic removes its messages": async (iggy) => {
    await iggy.do("topic", "purge", "dev", "replayed");
    assert.deepEqual(await poll(iggy, "--first", "-m", "9", "dev", "replayed", "0"), []);
    await iggy.refuse("was not found", ["topic", "purge", "dev", "missing"]);
  },
};
