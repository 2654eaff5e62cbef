import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode } from "@millrace/errors";
import type { CommandName } from "@millrace/protocol";
import { BODIES, restore } from "../testing/rights-fixture.ts";
import { TestServer } from "../testing/test-server.ts";

const COMMANDS = Object.keys(BODIES) as CommandName[];

/** Commands that end the session or begin one, which the others need. */
const OF_SESSIONS = new Set<CommandName>(["LoginRegister", "LoginRegisterWithPat", "LogoutUser"]);

/** Codes that a body whose first part still means something can get: its target is another, or missing. */
const OTHERWISE = new Set<number>([
  0,
  ErrorCode.FeatureUnavailable,
  ErrorCode.ResourceNotFound,
  ErrorCode.InvalidCredentials,
  ErrorCode.InvalidUsername,
]);

test("Every body cut at any length is answered by its code, and the session goes on.", async () => {
  const server = await TestServer.start();
  const root = await server.login();
  await restore(root);
  for (const name of COMMANDS.filter((one) => !OF_SESSIONS.has(one))) {
    const body = BODIES[name] ?? new Uint8Array(0);
    for (let length = 0; length < body.length; length += 1) {
      const { code, eviction } = await root.command(name, body.subarray(0, length));
      const cut = `${name} cut to ${length} of ${body.length} bytes: ${code}`;
      assert.equal(eviction, undefined, cut);
      assert.ok(code === ErrorCode.InvalidCommand || OTHERWISE.has(code), cut);
    }
    await restore(root);
  }
  await root.ok("GetUsers");
  await server.stop();
});

test("A byte behind any body is refused with 3, and so is each length that lies.", async () => {
  const server = await TestServer.start();
  const root = await server.login();
  await restore(root);
  const named: readonly CommandName[] = ["GetUser", "DeleteUser", "UpdatePermissions", "ChangePassword"];
  for (const name of [...named, "CreatePersonalAccessToken", "DeletePersonalAccessToken"] as const) {
    const body = BODIES[name] ?? new Uint8Array(0);
    const longer = await root.command(name, Uint8Array.of(...body, 0));
    assert.equal(longer.code, ErrorCode.InvalidCommand, name);
    const lengthAt = named.includes(name) ? 1 : 0;
    for (const lie of [0, 255]) {
      const lying = body.slice();
      lying[lengthAt] = lie;
      assert.equal((await root.command(name, lying)).code, ErrorCode.InvalidCommand, `${name} says ${lie}`);
    }
  }
  await root.ok("GetUsers");
  await server.stop();
});

test("No byte of an operation that is not a client's makes anybody's request the server's own.", async () => {
  const server = await TestServer.start();
  const root = await server.login();
  const before = server.broker.shard.metadata.commit;
  for (const operation of [64, 65, 66, 67, 68, 200, 201, 202, 203, 255]) {
    const answer = await root.exchange(root.frame(operation, new Uint8Array(8)));
    assert.equal(answer.code, ErrorCode.InvalidCommand, `${operation}`);
  }
  assert.equal(server.broker.shard.metadata.commit, before);
  await server.stop();
});
