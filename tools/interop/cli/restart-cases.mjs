import assert from "node:assert/strict";
import { properties } from "./iggy-command.mjs";

/** What must still be there after a kill and a restart of the server. */
export const restartCases = {
  "after a kill and a restart everything is there": async (iggy, { restartServer }) => {
    const look = async () => [
      await iggy.do("stream", "list", "-l", "list"),
      await iggy.do("topic", "list", "dev", "-l", "list"),
      properties(await iggy.do("consumer-offset", "get", "somebody", "dev", "lines", "1")),
      (await iggy.do("message", "poll", "--first", "-m", "9", "dev", "lines", "1"))
        .split("\n")
        .slice(-12)
        .join("\n"),
    ];
    const before = await look();
    await restartServer();
    assert.deepEqual(await look(), before);
    await iggy.do("stream", "delete", "dev");
    assert.match(await iggy.do("stream", "get", "dev"), /was not found/);
  },
};
