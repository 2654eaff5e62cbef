import assert from "node:assert/strict";
import { properties, tableRows } from "./iggy-command.mjs";

/** Streams by command. Each case: `(iggy) => Promise`. */
export const streamCases = {
  "a stream is created, listed, shown by name and id, renamed and deleted": async (iggy) => {
    assert.match(await iggy.do("stream", "list"), /No streams found/);
    await iggy.do("stream", "create", "dev");
    await iggy.do("stream", "create", "prod");
    const rows = tableRows(await iggy.do("stream", "list"));
    assert.deepEqual(
      rows.slice(1).map((row) => [row[0], row[2], row[5]]),
      [
        ["0", "dev", "0"],
        ["1", "prod", "0"],
      ],
    );
    assert.match(await iggy.do("stream", "list", "-l", "list"), /^0\|[^|]+\|dev\|/m);
    const shown = properties(await iggy.do("stream", "get", "prod"));
    assert.equal(shown["Stream ID"], "1");
    await iggy.do("stream", "update", "1", "production");
    assert.equal(properties(await iggy.do("stream", "get", "1"))["Stream name"], "production");
    await iggy.do("stream", "delete", "production");
    assert.match(await iggy.do("stream", "get", "production"), /was not found/);
  },

  "a second stream of a name, and one that is missing, are refused": async (iggy) => {
    await iggy.refuse("already exists", ["stream", "create", "dev"]);
    await iggy.refuse("was not found", ["stream", "delete", "missing"]);
    await iggy.refuse("was not found", ["stream", "update", "77", "name"]);
    await iggy.refuse("was not found", ["stream", "purge", "missing"]);
  },

  "purging a stream empties its topics": async (iggy) => {
    await iggy.do("stream", "create", "purged");
    await iggy.do("topic", "create", "purged", "lines", "1", "none");
    await iggy.do("message", "send", "--partition-id", "0", "purged", "lines", "one", "two");
    assert.equal(properties(await iggy.do("stream", "get", "purged"))["Stream message count"], "2");
    await iggy.do("stream", "purge", "purged");
    const after = properties(await iggy.do("stream", "get", "purged"));
    assert.equal(after["Stream message count"], "0");
    assert.equal(after["Stream topics count"], "1");
    await iggy.do("stream", "delete", "purged");
  },
};
