import assert from "node:assert/strict";
import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { ThreeServers } from "../testing/three-servers.ts";
import {
  CATCH_UP_MS,
  contentOf,
  leaderSeenBy,
  makeTopic,
  send,
  WRITES_AGAIN_MS,
  within,
} from "../testing/three-servers-calls.ts";

const NODES = [0, 1, 2] as const;
const KEY = Buffer.alloc(32, 3).toString("base64");
const OTHER_KEY = Buffer.alloc(32, 4).toString("base64");

/** Room for three of the longest messages, which encryption asks for. */
const MEMORY = { MILLRACE_MEMORY_POOL_SIZE: "256 MiB" };

function encryptedWith(key: string) {
  return { ...MEMORY, MILLRACE_ENCRYPTION_ENABLED: "true", MILLRACE_ENCRYPTION_KEY: key };
}

const IN_CLEAR = { ...MEMORY, MILLRACE_ENCRYPTION_ENABLED: "false" };

/** How many files of a node hold a text. */
async function filesWith(servers: ThreeServers, replica: number, text: string): Promise<number> {
  const folder = servers.dataOf(replica);
  let count = 0;
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    if ((await readFile(join(entry.parentPath, entry.name))).includes(text)) count += 1;
  }
  return count;
}

async function assertHaveAll(servers: ThreeServers, texts: readonly string[]): Promise<void> {
  for (const replica of NODES) {
    await within(CATCH_UP_MS, async () =>
      assert.deepEqual((await contentOf(servers, replica)).texts, texts, `node ${replica}`),
    );
    for (const text of texts)
      assert.equal(await filesWith(servers, replica, text), 0, `"${text}" in files of node ${replica}`);
  }
}

/** Sees that a node refuses to start on its data and says why. */
async function assertNoStart(
  servers: ThreeServers,
  replica: number,
  environment: Readonly<Record<string, string>>,
  reason: RegExp,
): Promise<void> {
  await assert.rejects(servers.startAgain(replica, environment), /not ready/);
  await within(CATCH_UP_MS, async () => assert.match(servers.printed(replica), reason));
}

/** Starts a node that cannot be of this cluster, and sees that it and the others say why. */
async function assertKeptOut(
  servers: ThreeServers,
  replica: number,
  environment: Readonly<Record<string, string>>,
  reason: RegExp,
): Promise<void> {
  await servers.startAgain(replica, environment);
  const others = NODES.filter((one) => one !== replica);
  await within(CATCH_UP_MS, async () => {
    assert.match(servers.printed(replica), reason);
    for (const other of others) assert.match(servers.printed(other), reason);
  });
  assert.equal(await filesWith(servers, replica, "orders"), 0, "it is told nothing");
  await servers.kill(replica);
  await rm(servers.dataOf(replica), { recursive: true });
}

test("Three servers encrypt what they store, lose a leader and a folder, and keep out who has another key or none.", async () => {
  const servers = await ThreeServers.start(encryptedWith(KEY));
  try {
    const leader = await within(WRITES_AGAIN_MS, () => leaderSeenBy(servers, 0));
    const [other = 0, third = 0] = NODES.filter((replica) => replica !== leader);
    await makeTopic(servers, other);
    await send(servers, leader, "message 1");
    await send(servers, other, "message 2");
    await assertHaveAll(servers, ["message 1", "message 2"]);

    await servers.kill(leader);
    const next = await within(WRITES_AGAIN_MS, async () => {
      const seen = await leaderSeenBy(servers, third);
      await send(servers, seen, "message 3");
      return seen;
    });
    await assertNoStart(servers, leader, encryptedWith(OTHER_KEY), /is encrypted with another key/);
    await assertNoStart(servers, leader, IN_CLEAR, /Set encryption\.enabled to true/);
    await servers.startAgain(leader, encryptedWith(KEY));
    await assertHaveAll(servers, ["message 1", "message 2", "message 3"]);

    const lost = next === other ? third : other;
    await servers.kill(lost);
    await rm(servers.dataOf(lost), { recursive: true });
    await assertKeptOut(servers, lost, encryptedWith(OTHER_KEY), /with different keys/);
    await assertKeptOut(servers, lost, IN_CLEAR, /only one of both encrypts its messages at rest/);
    await servers.startAgain(lost, encryptedWith(KEY));
    await assertHaveAll(servers, ["message 1", "message 2", "message 3"]);

    assert.deepEqual(await servers.stop(), [0, 0, 0]);
    await Promise.all(NODES.map((replica) => servers.startAgain(replica)));
    await assertHaveAll(servers, ["message 1", "message 2", "message 3"]);
  } finally {
    await servers.remove();
  }
});
