import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { test } from "node:test";
import { ThreeServers } from "../testing/three-servers.ts";
import {
  CATCH_UP_MS,
  contentOf,
  createStream,
  leaderSeenBy,
  makeTopic,
  send,
  WRITES_AGAIN_MS,
  within,
} from "../testing/three-servers-calls.ts";

const ALL = {
  streams: ["shop", "while one is down"],
  texts: ["message 1", "message 2", "message 3", "message 4"],
};

async function assertHasAll(servers: ThreeServers, replica: number): Promise<void> {
  await within(CATCH_UP_MS, async () => assert.deepEqual(await contentOf(servers, replica), ALL));
}

test("Three servers lose their leader, go on, and have everything when it is back, even without its data.", async () => {
  const servers = await ThreeServers.start();
  try {
    const leader = await within(WRITES_AGAIN_MS, () => leaderSeenBy(servers, 0));
    const [other = 0, third = 0] = [0, 1, 2].filter((replica) => replica !== leader);
    // It may hear of its leader a little later.
    await within(WRITES_AGAIN_MS, () => leaderSeenBy(servers, other));
    await makeTopic(servers, other);
    await send(servers, leader, "message 1");
    await send(servers, leader, "message 2");

    await servers.kill(leader);
    const next = await within(WRITES_AGAIN_MS, async () => {
      const seen = await leaderSeenBy(servers, third);
      await send(servers, seen, "message 3");
      return seen;
    });
    assert.notEqual(next, leader);
    await createStream(servers, other, "while one is down");
    await send(servers, next, "message 4");

    await servers.startAgain(leader);
    for (const replica of [leader, other, third]) await assertHasAll(servers, replica);

    await servers.kill(third);
    await rm(servers.dataOf(third), { recursive: true });
    await servers.startAgain(third);
    await assertHasAll(servers, third);

    assert.deepEqual(await servers.stop(), [0, 0, 0]);
  } finally {
    await servers.remove();
  }
});
