import assert from "node:assert/strict";
import { it, type TestContext } from "node:test";
import type { Passwords } from "@millrace/platform";
import {
  CommandCode,
  EvictionReason,
  encodeChangePassword,
  encodeDeletePersonalAccessToken,
  encodeDeleteUser,
  encodeLoginRegister,
  encodeReadWithoutLogin,
  encodeUpdateUser,
  NO_OPTIONS,
  PROTOCOL_VERSION,
  toIdentifier,
} from "@millrace/protocol";
import type { TestClient } from "../testing/test-client.ts";
import { TestCluster } from "../testing/test-cluster.ts";
import { TestServer } from "../testing/test-server.ts";
import { createToken, createUser, loginWithToken, PASSWORD } from "../testing/test-users.ts";

const ALICE = toIdentifier("alice");
const { InvalidCredentials, InvalidToken, NoSession, UserInactive } = EvictionReason;
const LOGIN = { client: 5n, username: "alice", password: PASSWORD };

/** What may happen to a user in one op while somebody logs in as him, and how the login ends then. */
interface Change {
  readonly name: string;
  readonly change: (root: TestClient) => Promise<unknown>;
  readonly ending: number;
}

const CHANGES: readonly Change[] = [
  {
    name: "deleted",
    change: (root) => root.ok("DeleteUser", encodeDeleteUser({ user: ALICE })),
    ending: NoSession,
  },
  {
    name: "made inactive",
    change: (root) => {
      const update = { user: ALICE, username: undefined, options: NO_OPTIONS } as const;
      return root.ok("UpdateUser", encodeUpdateUser({ ...update, status: "inactive" }));
    },
    ending: UserInactive,
  },
  {
    name: "given another password",
    change: (root) => {
      const passwords = { currentPassword: PASSWORD, newPassword: "another" };
      return root.ok("ChangePassword", encodeChangePassword({ user: ALICE, ...passwords }));
    },
    ending: InvalidCredentials,
  },
];

const MADE_ANEW: Change = {
  name: "deleted and made anew",
  change: async (root) => {
    await root.ok("DeleteUser", encodeDeleteUser({ user: ALICE }));
    await createUser(root, "alice", { password: PASSWORD });
  },
  ending: NoSession,
};

/** Holds the next check of a password back, although it is done, until it is let go; those behind it pass. */
function holdNextCheck(t: TestContext, passwords: Passwords) {
  const verify = passwords.verify.bind(passwords);
  const held = { isDone: false, letGo: () => {} };
  const gate = new Promise<void>((resolve) => {
    held.letGo = resolve;
  });
  let count = 0;
  t.mock.method(passwords, "verify", async (password: string, stored: string) => {
    count += 1;
    const isHeld = count === 1;
    const isRight = await verify(password, stored);
    if (isHeld) {
      held.isDone = true;
      await gate;
    }
    return isRight;
  });
  return held;
}

/** A server with a disk that takes its time, root's connection, and alice. */
async function withAlice() {
  const server = await TestServer.start({ diskLatencyMaxMs: 5 });
  const root = await server.login();
  await server.drive(createUser(root, "alice"));
  const until = async (holds: () => boolean) => {
    for (let ms = 0; !holds(); ms++) {
      assert.ok(ms < 1000, "what a test waits for happens within a second of simulated time");
      await server.platform.clock.run(1);
    }
  };
  const { metadata } = server.broker.shard;
  /** Lets time pass until a change is on its way to the disk. */
  const untilUnderWay = () => until(() => metadata.replica.op > metadata.commit);
  /** Nobody is left in the client table but root. */
  const untilRootIsAlone = () => until(() => metadata.clientTable.count === 1);
  return { server, root, until, untilUnderWay, untilRootIsAlone };
}

for (const { name, change } of [...CHANGES, MADE_ANEW]) {
  it(`Who is ${name} while his password is checked is not logged in.`, async (t) => {
    const { server, root, until, untilRootIsAlone } = await withAlice();
    const check = holdNextCheck(t, server.platform.passwords);
    const login = server.connect().login(LOGIN);
    await until(() => check.isDone);
    await server.drive(change(root));
    check.letGo();
    assert.equal((await server.drive(login)).eviction?.reason, InvalidCredentials);
    await untilRootIsAlone();
    await server.stop();
  });

  it(`Who is ${name} while his password is checked reads nothing without a login.`, async (t) => {
    const cluster = await TestCluster.start();
    const at = await cluster.metadataPrimary();
    const root = await cluster.login(at);
    await cluster.drive(createUser(root, "alice"));
    const check = holdNextCheck(t, cluster.broker(at).shard.platform.passwords);
    const reading = cluster.connect(at).command("ReadWithoutLogin", readOfRoster());
    await cluster.until(() => check.isDone);
    await cluster.drive(change(root));
    check.letGo();
    assert.equal((await cluster.drive(reading)).eviction?.reason, InvalidCredentials);
    await cluster.stop();
  });
}

for (const { name, change, ending } of CHANGES) {
  it(`Who is ${name} while his login is agreed on is not logged in.`, async (t) => {
    const { server, root, until, untilUnderWay, untilRootIsAlone } = await withAlice();
    const check = holdNextCheck(t, server.platform.passwords);
    const login = server.connect().login(LOGIN);
    await until(() => check.isDone);
    const changing = change(root);
    await untilUnderWay();
    check.letGo();
    await server.drive(changing);
    assert.equal((await server.drive(login)).eviction?.reason, ending);
    await untilRootIsAlone();
    await server.stop();
  });
}

it("Who changes his name while his password is checked is logged in: it is he, and his password.", async (t) => {
  const { server, root, until } = await withAlice();
  const check = holdNextCheck(t, server.platform.passwords);
  const login = server.connect().login(LOGIN);
  await until(() => check.isDone);
  const update = { user: ALICE, username: "alicia", status: undefined, options: NO_OPTIONS };
  await server.drive(root.ok("UpdateUser", encodeUpdateUser(update)));
  check.letGo();
  assert.equal((await server.drive(login)).code, 0);
  await server.stop();
});

it("Whose token is deleted while his login is agreed on is not logged in.", async () => {
  const { server, untilUnderWay, until } = await withAlice();
  const alice = server.connect();
  await server.drive(alice.login(LOGIN));
  const token = await server.drive(createToken(alice, "short-lived"));
  const deletion = encodeDeletePersonalAccessToken({ name: "short-lived" });
  const deleting = alice.ok("DeletePersonalAccessToken", deletion);
  await untilUnderWay();
  const login = loginWithToken(server.connect(), token, 6n);
  await server.drive(deleting);
  assert.equal((await server.drive(login)).eviction?.reason, InvalidToken);
  await until(() => server.broker.shard.metadata.clientTable.session(6n) === undefined);
  await server.stop();
});

function readOfRoster(): Uint8Array {
  const login = encodeLoginRegister({
    ...{ protocolVersion: PROTOCOL_VERSION, sdkName: "test", sdkVersion: "1", context: "" },
    ...{ username: LOGIN.username, password: LOGIN.password },
  });
  return encodeReadWithoutLogin({ login, code: CommandCode.GetClusterMetadata, body: new Uint8Array(0) });
}
