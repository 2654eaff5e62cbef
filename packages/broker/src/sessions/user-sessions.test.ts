import assert from "node:assert/strict";
import { test } from "node:test";
import { encodeDeletePersonalAccessToken } from "@millrace/protocol";
import { TestServer } from "../testing/test-server.ts";
import { createToken } from "../testing/test-users.ts";
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
