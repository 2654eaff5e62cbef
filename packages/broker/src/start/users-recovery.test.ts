import assert from "node:assert/strict";
import { test } from "node:test";
import type { SimDisk } from "@millrace/platform/sim";
import {
  decodeGetStreamsReply,
  decodeGetUserReply,
  decodeGetUsersReply,
  EvictionReason,
  encodeChangePassword,
  encodeCreateStream,
  encodeDeleteUser,
  encodeGetUser,
  NO_OPTIONS,
  type Permissions,
  toIdentifier,
} from "@millrace/protocol";
import { oneRight } from "../testing/rights-fixture.ts";
import type { TestClient } from "../testing/test-client.ts";
import { TestServer } from "../testing/test-server.ts";
import { createToken, createUser, loginWithToken } from "../testing/test-users.ts";

const FILE_MAX = 1 << 24;
/** What a stored password or a stored token would look like in a file, whatever it stands between. */
const UNUSUAL = [
  `quote'"\\`,
  "nul\u0000in the middle",
  "\u{1f511}\u{1f409}",
  "x".repeat(100),
  " spaces and\nlines ",
  "ключ-密码",
];

/** Every file of a disk, whole. */
async function filesOf(disk: SimDisk, path = ""): Promise<{ path: string; bytes: Uint8Array }[]> {
  const files: { path: string; bytes: Uint8Array }[] = [];
  for (const entry of await disk.readDirectory(path)) {
    const below = path === "" ? entry.name : `${path}/${entry.name}`;
    if (entry.kind === "directory") files.push(...(await filesOf(disk, below)));
    else files.push({ path: below, bytes: (await disk.readWhole(below, FILE_MAX)) ?? new Uint8Array(0) });
  }
  return files;
}

async function assertNowhere(disk: SimDisk, secrets: readonly string[]): Promise<void> {
  const files = await filesOf(disk);
  assert.ok(
    files.some(({ path }) => path.includes("snapshot")) && files.some(({ path }) => path.endsWith(".wal")),
  );
  for (const { path, bytes } of files) {
    const content = Buffer.from(bytes);
    for (const secret of secrets) {
      assert.equal(content.indexOf(Buffer.from(secret)), -1, `${JSON.stringify(secret)} is in ${path}`);
    }
  }
}

async function changePassword(
  client: TestClient,
  user: string,
  currentPassword: string,
  newPassword: string,
) {
  const body = encodeChangePassword({ user: toIdentifier(user), currentPassword, newPassword });
  assert.equal((await client.command("ChangePassword", body)).code, 0);
}

test("No clear password or token is in any file; after a restart the new password works, the old does not.", async () => {
  const before = await TestServer.start({ config: { snapshotEveryOps: 4 } });
  const root = await before.login();
  const tokens: string[] = [];
  for (const [index, password] of UNUSUAL.entries()) {
    assert.equal((await createUser(root, `user-${index}`, { password: `old-${index}` })).code, 0);
    await changePassword(root, `user-${index}`, `old-${index}`, password);
    tokens.push(await createToken(root, `token-${index}`));
  }
  await before.platform.clock.run(10);
  const disk = before.kill();
  const olds = UNUSUAL.map((_, index) => `old-${index}`);
  await assertNowhere(disk, [...UNUSUAL, ...olds, ...tokens]);
  const server = await TestServer.start({ disk });
  for (const [index, password] of UNUSUAL.entries()) {
    const username = `user-${index}`;
    const client = BigInt(100 + index);
    assert.equal((await server.connect().login({ client, username, password })).code, 0, username);
    const old = await server.connect().login({ client: 200n, username, password: `old-${index}` });
    assert.equal(old.eviction?.reason, EvictionReason.InvalidCredentials, username);
    const byToken = await loginWithToken(server.connect(), tokens[index] ?? "", BigInt(300 + index));
    assert.equal(byToken.code, 0);
  }
  await server.stop();
});

test("Users with no permissions, empty ones, and streams without topics are the same after a restart.", async () => {
  const { global } = oneRight("stream", "");
  const some = oneRight("stream", "read_stream");
  const kinds: readonly (Permissions | undefined)[] = [
    undefined,
    { global, streams: new Map() },
    some,
    oneRight("topic", "manage_topic"),
  ];
  for (const snapshotEveryOps of [1024, 1]) {
    let server = await TestServer.start({ config: { snapshotEveryOps } });
    for (const [index, permissions] of kinds.entries()) {
      const root = await server.login(BigInt(2 * index + 1));
      const options = permissions === undefined ? {} : { permissions };
      assert.equal((await createUser(root, `user-${index}`, options)).code, 0);
      const payload = await root.ok("GetUser", encodeGetUser({ user: toIdentifier(`user-${index}`) }));
      await server.platform.clock.run(10);
      server = await TestServer.start({ disk: server.kill(), config: { snapshotEveryOps } });
      const again = await (await server.login(BigInt(2 * index + 2))).ok(
        "GetUser",
        encodeGetUser({ user: toIdentifier(index + 1) }),
      );
      assert.deepEqual(again, payload);
      assert.deepEqual(decodeGetUserReply(again)?.permissions, permissions);
    }
    await server.stop();
  }
});

test("Holes in the ids of users and streams are filled lowest first, before and after restarts.", async () => {
  let server = await TestServer.start();
  let root = await server.login();
  for (let index = 0; index < 10; index += 1) {
    await createUser(root, `user-${index}`);
    await root.ok("CreateStream", encodeCreateStream({ name: `s${index}`, options: NO_OPTIONS }));
  }
  for (let index = 1; index < 10; index += 2) {
    await root.ok("DeleteUser", encodeDeleteUser({ user: toIdentifier(`user-${index}`) }));
  }
  server = await TestServer.start({ disk: server.kill() });
  root = await server.login(2n);
  await createUser(root, "new-a");
  await createUser(root, "new-b");
  server = await TestServer.start({ disk: server.kill() });
  root = await server.login(3n);
  const users = decodeGetUsersReply(await root.ok("GetUsers")).map(({ id, username }) => `${id} ${username}`);
  assert.deepEqual(users, [
    "0 iggy",
    "1 user-0",
    "2 new-a",
    "3 user-2",
    "4 new-b",
    "5 user-4",
    "7 user-6",
    "9 user-8",
  ]);
  assert.equal(decodeGetStreamsReply(await root.ok("GetStreams")).length, 10);
  await server.stop();
});
