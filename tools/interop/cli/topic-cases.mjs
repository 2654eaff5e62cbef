import assert from "node:assert/strict";
import { properties, tableRows } from "./iggy-command.mjs";

/** Topics, partitions and segments by command; they use the stream `dev`. Each case: `(iggy) => Promise`. */
export const topicCases = {
  "a topic is created with defaults and shown": async (iggy) => {
    assert.equal(tableRows(await iggy.do("topic", "list", "dev")).length, 1);
    await iggy.do("topic", "create", "dev", "plain", "2", "none");
    const shown = properties(await iggy.do("topic", "get", "dev", "plain"));
    assert.equal(shown["Topic id"], "0");
    assert.equal(shown["Partitions count"], "2");
    assert.equal(shown["Message expiry"], "unlimited");
    assert.equal(shown["Max topic size"], "unlimited");
  },

  "a topic is created with expiry, size, durability and explicit options": async (iggy) => {
    const options = [
      "--max-topic-size",
      "64MiB",
      "--durability",
      "persisted",
      "--consumer-offset-durability",
      "persisted",
    ];
    const sets = ["--set", "segment_size=2MiB", "--set", "messages_required_to_save=100"];
    await iggy.do("topic", "create", ...options, ...sets, "dev", "tuned", "3", "gzip", "1day", "2h");
    const shown = properties(await iggy.do("topic", "get", "dev", "tuned"));
    assert.equal(shown.Compression, "gzip");
    assert.equal(shown["Message expiry"], "1day 2h");
    assert.match(shown["Max topic size"], /^(67\.1\d? MB|64\.?0* MiB)$/);
    assert.equal(shown["Partitions count"], "3");
  },

  "options that are unknown or out of bounds are refused": async (iggy) => {
    const create = (...set) => ["topic", "create", ...set, "dev", "refused", "1", "none"];
    await iggy.refuse("Unsupported option key", create("--set", "colour=blue"));
    await iggy.refuse("Invalid option value", create("--set", "segment_size=1000"));
    await iggy.refuse("topic size", create("--max-topic-size", "1MiB", "--set", "segment_size=2MiB"));
    await iggy.refuse("already exists", ["topic", "create", "dev", "plain", "1", "none"]);
    await iggy.refuse("was not found", ["topic", "create", "missing", "topic", "1", "none"]);
  },

  "topics are listed, renamed and deleted": async (iggy) => {
    await iggy.do("topic", "create", "dev", "short-lived", "1", "none");
    const names = async () =>
      tableRows(await iggy.do("topic", "list", "dev"))
        .slice(1)
        .map((row) => row[2]);
    assert.deepEqual((await names()).sort(), ["plain", "short-lived", "tuned"]);
    await iggy.do("topic", "update", "dev", "short-lived", "renamed", "gzip", "3days");
    const shown = properties(await iggy.do("topic", "get", "dev", "renamed"));
    assert.deepEqual([shown.Compression, shown["Message expiry"]], ["gzip", "3days"]);
    await iggy.do("topic", "delete", "dev", "renamed");
    assert.match(await iggy.do("topic", "get", "dev", "renamed"), /was not found/);
    await iggy.refuse("was not found", ["topic", "delete", "dev", "renamed"]);
    await iggy.refuse("was not found", ["topic", "update", "dev", "renamed", "name", "none"]);
  },

  "partitions are added and removed": async (iggy) => {
    const count = async () => properties(await iggy.do("topic", "get", "dev", "plain"))["Partitions count"];
    await iggy.do("partition", "create", "dev", "plain", "3");
    assert.equal(await count(), "5");
    await iggy.do("partition", "delete", "dev", "plain", "4");
    assert.equal(await count(), "1");
    await iggy.refuse("partitions", ["partition", "create", "dev", "plain", "1001"]);
    await iggy.refuse("was not found", ["partition", "create", "dev", "missing", "1"]);
  },

  "deleting segments removes the oldest messages and keeps the newest": async (iggy) => {
    await iggy.do("topic", "create", "--set", "segment_size=1MiB", "dev", "segments", "1", "none");
    const big = "x".repeat(100_000);
    for (let round = 0; round < 4; round++)
      await iggy.doWithInput(
        `${big}\n`.repeat(9),
        "message",
        "send",
        "--partition-id",
        "0",
        "dev",
        "segments",
      );
    await iggy.do("segment", "delete", "dev", "segments", "0", "1");
    const poll = (strategy) => iggy.do("message", "poll", strategy, "dev", "segments", "0");
    const [, oldest] = tableRows(await poll("--first"));
    const [, newest] = tableRows(await poll("--last"));
    assert.ok(Number(oldest[0]) > 0, `the oldest offset is still ${oldest[0]}`);
    assert.equal(newest[0], "35");
    await iggy.refuse("was not found", ["segment", "delete", "dev", "segments", "9", "1"]);
    await iggy.do("topic", "delete", "dev", "segments");
  },
};
