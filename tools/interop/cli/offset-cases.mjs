import assert from "node:assert/strict";
import { properties } from "./iggy-command.mjs";

/** Consumer offsets by command; they use the four messages in partition 1 of `dev/lines`. */
export const offsetCases = {
  "an offset committed by a poll is shown": async (iggy) => {
    const shown = properties(await iggy.do("consumer-offset", "get", "reader", "dev", "lines", "1"));
    assert.deepEqual(
      [shown["Partition ID"], shown["Current offset"], shown["Stored offset"]],
      ["1", "3", "3"],
    );
  },

  "an offset is set and shown, for numbered and named consumers": async (iggy) => {
    for (const consumer of ["42", "somebody"]) {
      const target = [consumer, "dev", "lines", "1"];
      assert.match(await iggy.do("consumer-offset", "get", ...target), /was not found/);
      await iggy.do("consumer-offset", "set", ...target, "2");
      assert.equal(properties(await iggy.do("consumer-offset", "get", ...target))["Stored offset"], "2");
    }
  },

  "an offset beyond the end or for a missing partition is refused": async (iggy) => {
    await iggy.refuse("offset", ["consumer-offset", "set", "42", "dev", "lines", "1", "4"]);
    await iggy.refuse("not found", ["consumer-offset", "set", "42", "dev", "lines", "9", "0"]);
    await iggy.refuse("not found", ["consumer-offset", "get", "42", "dev", "lines", "9"]);
  },
};
