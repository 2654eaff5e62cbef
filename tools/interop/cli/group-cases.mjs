import assert from "node:assert/strict";
import { properties, tableRows } from "./iggy-command.mjs";

/** Consumer groups by command; they use the topic `dev/lines`. */
export const groupCases = {
  "a consumer group is created, listed and shown": async (iggy) => {
    const none = tableRows(await iggy.do("consumer-group", "list", "dev", "lines")).slice(1);
    assert.equal(none.length, 0);
    await iggy.do("consumer-group", "create", "dev", "lines", "readers");
    await iggy.do("consumer-group", "create", "dev", "lines", "others");
    const rows = tableRows(await iggy.do("consumer-group", "list", "dev", "lines")).slice(1);
    assert.deepEqual(
      rows.map((row) => [row[0], row[1], row[3]]),
      [
        ["0", "readers", "0"],
        ["1", "others", "0"],
      ],
    );
    const shown = properties(await iggy.do("consumer-group", "get", "dev", "lines", "readers"));
    assert.equal(shown["Consumer group id"], "0");
    assert.match(await iggy.do("consumer-group", "get", "dev", "lines", "1"), /others/);
  },

  "a name that is taken, a missing group and an offset of a group that nobody owns are refused": async (
    iggy,
  ) => {
    await iggy.refuse("already exists", ["consumer-group", "create", "dev", "lines", "readers"]);
    await iggy.refuse("not found", ["consumer-group", "delete", "dev", "lines", "absent"]);
    await iggy.refuse("not found", ["consumer-group", "create", "dev", "absent", "readers"]);
    const set = ["consumer-offset", "set", "readers", "dev", "lines", "1", "0", "-k", "consumer-group"];
    await iggy.refuse("not found", set);
  },

  "a consumer group is deleted by name and by id": async (iggy) => {
    await iggy.do("consumer-group", "delete", "dev", "lines", "readers");
    await iggy.do("consumer-group", "delete", "dev", "lines", "1");
    await iggy.refuse("not found", ["consumer-group", "delete", "dev", "lines", "readers"]);
  },
};
