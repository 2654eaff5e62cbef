import assert from "node:assert/strict";
import { MillraceClient } from "../../../packages/client/dist/index.js";
import { properties, tableRows } from "./iggy-command.mjs";

/** Member and number of partitions, for each member that the command shows of the group `dev/shared/readers`. */
async function shares(iggy) {
  const shown = await iggy.do("consumer-group", "get", "dev", "shared", "readers");
  return [...shown.matchAll(/\| +(\d+) +\| (\d+) +\| [\d, ]+\|/g)].map(([, member, count]) => [
    member,
    count,
  ]);
}

/** Consumer groups by command; they use the topic `dev/lines`. Each case: `(iggy, { address }) => Promise`. */
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

  "two members and what they share are shown": async (iggy, { address }) => {
    await iggy.do("topic", "create", "dev", "shared", "4", "none");
    await iggy.do("consumer-group", "create", "dev", "shared", "readers");
    // The command itself cannot join: a membership ends with its connection.
    const place = { stream: "dev", topic: "shared", group: "readers" };
    const members = [1, 2].map(() => MillraceClient.connect(`iggy://iggy:iggy@${address}`));
    const [first, second] = await Promise.all(members);
    await first.joinConsumerGroup(place);
    assert.deepEqual(await shares(iggy), [["0", "4"]]);
    await second.joinConsumerGroup(place);
    assert.deepEqual(await shares(iggy), [
      ["0", "2"],
      ["1", "2"],
    ]);
    await first.leaveConsumerGroup(place);
    assert.deepEqual(await shares(iggy), [["1", "4"]]);
    await Promise.all([first.close(), second.close()]);
    await iggy.do("topic", "delete", "dev", "shared");
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
