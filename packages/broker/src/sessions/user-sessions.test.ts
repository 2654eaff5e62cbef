import assert from "node:assert/strict";
import { test } from "node:test";
import {
  encodeCreatePersonalAccessToken,
  encodeDeletePersonalAccessToken,
  encodeDeleteUser,
  toIdentifier,
} from "@millrace/protocol";
import { TestServer } from "../testing/test-server.ts";
import { createToken, createUser, PASSWORD } from "../testing/test-users.ts";
import { hasLostToken } from "./user-sessions.ts";

test("A session that ends with a token has lost it once it is expired or deleted, and not before.", async () => {
  const config = { tokenCleaner: { isEnabled: false, intervalMs: 1000 } };
  const server = await TestServer.start({ config });
  const root = await server.login();
  const { shard } = server.broker;
  const with1s = shard.tokenDigest(await createToken(root, "short", 1_000_000n));
  const forEver = shard.tokenDigest(await createToken(root, "long"));
  const isLost = (token: string | undefined) => hasLostToken(shard, { token });
  assert.deepEqual([with1s, forEver, undefined].map(isLost), [false, false, false]);
  await server.platform.clock.run(1001);
  assert.deepEqual([with1s, forEver, undefined].map(isLost), [true, false, false]);
  await root.ok("DeletePersonalAccessToken", encodeDeletePersonalAccessToken({ name: "long" }));
  assert.deepEqual([with1s, forEver, undefined].map(isLost), [true, true, false]);
  await server.stop();
});

test("A deleted user's session ends though requests of his wait for their turn.", async () => {
  const server = await TestServer.start({ diskLatencyMaxMs: 3 });
  const root = await server.login();
  assert.equal((await server.drive(createUser(root, "alice"))).code, 0);
  const alice = server.connect();
  await server.drive(alice.login({ client: 7n, username: "alice", password: PASSWORD }));
  const sessions = () => [...server.broker.shard.metadata.clientTable.sessions()].length;
  assert.equal(sessions(), 2);
  for (let name = 0; name < 10; name += 1) {
    const body = encodeCreatePersonalAccessToken({ name: `t${name}`, expiryMicros: 0n });
    alice.command("CreatePersonalAccessToken", body).catch(() => undefined);
  }
  await server.drive(root.ok("DeleteUser", encodeDeleteUser({ user: toIdentifier("alice") })));
  await server.platform.clock.run(1000);
  assert.equal(alice.isClosed, true);
  assert.equal(sessions(), 1);
  await server.stop();
});
