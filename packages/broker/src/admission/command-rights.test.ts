import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { ErrorCode } from "@millrace/errors";
import {
  COMMANDS,
  type CommandName,
  EvictionReason,
  encodeGetUser,
  encodeLoginRegisterWithPat,
  encodeUpdatePermissions,
  PROTOCOL_VERSION,
  toIdentifier,
} from "@millrace/protocol";
import {
  COMMAND_RIGHTS,
  type CommandRights,
  RIGHTS,
  type WithoutLogin,
} from "../testing/command-rights.table.ts";
import {
  bodyOf,
  changePasswordBody,
  type Level,
  oneRight,
  PASSWORD,
  restore,
  userBody,
} from "../testing/rights-fixture.ts";
import type { Answer, TestClient } from "../testing/test-client.ts";
import { TestServer } from "../testing/test-server.ts";

/** What a user who may hears, where it is not success: he is no member. */
const ALLOWED_CODES: Readonly<Partial<Record<CommandName, readonly number[]>>> = {
  AttachConsumerSession: [ErrorCode.StaleClient],
  LeaveConsumerGroup: [0, ErrorCode.ConsumerGroupMemberNotFound],
  SyncConsumerGroup: [0, ErrorCode.ConsumerGroupMemberNotFound],
};

/** Commands that leave the fixture as it was. */
const HARMLESS = /^(Attach|Get|Describe|Ping|Poll|Send|Store|Flush|Sync|Verify|Login)/;

/** Commands that delete what rights are given on. */
const TAKES_RIGHTS = new Set<CommandName>(["DeleteStream", "DeleteTopic"]);

const LEVELS: readonly Level[] = ["global", "stream", "topic", "other stream", "other topic"];

interface Person {
  readonly name: string;
  readonly client: TestClient;
  readonly level: Level | "root" | "none";
  readonly right: string;
}

/** Who has no login. */
const STRANGER = "stranger";

/** Every cell of command x person that was looked at, with what came of it. */
const cells = new Map<string, "allowed" | "denied">();

function tested(command: CommandName, person: string, outcome: "allowed" | "denied"): void {
  cells.set(`${command} for ${person}`, outcome);
}

let server: TestServer;
let root: TestClient;
const people: Person[] = [];

before(async () => {
  server = await TestServer.start({ collectSnapshot: async () => new Uint8Array(1) });
  root = await server.login();
  await restore(root);
  people.push({ name: "iggy", client: root, level: "root", right: "" });
  await add("nobody", "none", "");
  for (const level of LEVELS) {
    const kind = level.split(" ").at(-1) as "global" | "stream" | "topic";
    for (const right of RIGHTS[kind]) await add(`${level}-${right}`, level, right);
  }
});

after(() => server.stop());

async function add(name: string, level: Person["level"], right: string): Promise<void> {
  const permissions = level === "none" || level === "root" ? undefined : oneRight(level, right);
  await root.ok("CreateUser", userBody(name, permissions));
  const client = server.connect();
  const login = { client: BigInt(people.length + 1), username: name, password: PASSWORD };
  assert.equal((await client.login(login)).code, 0, name);
  people.push({ name, client, level, right });
}

function isAllowed([, , , needs]: CommandRights, { level, right }: Person): boolean {
  if (level === "root" || typeof needs === "string") return true;
  if (level === "global" || level === "stream" || level === "topic") return needs[level].includes(right);
  return false;
}

test("The table has a row for every command of the protocol, and no other.", () => {
  assert.deepEqual(
    COMMAND_RIGHTS.map(([code, name]) => [code, name]),
    COMMANDS.map(({ code, name }) => [code, name]),
  );
});

for (const row of COMMAND_RIGHTS) {
  const [, name, , needs] = row;
  if (needs === "refused" || name === "LogoutUser") continue;
  test(`${name} is allowed and denied to each single right as the specification says.`, async () => {
    for (const person of people) {
      const { code, eviction } = await person.client.command(name, bodyOf(name), headerOf(name));
      const cell: string = `${name} for ${person.name}: ${code}`;
      assert.equal(eviction, undefined, cell);
      if (!isAllowed(row, person)) assert.equal(code, ErrorCode.Unauthorized, cell);
      else assert.ok((ALLOWED_CODES[name] ?? [0]).includes(code), cell);
      tested(name, person.name, isAllowed(row, person) ? "allowed" : "denied");
      if (code === 0 && !HARMLESS.test(name)) await restore(root);
      if (code === 0 && TAKES_RIGHTS.has(name)) await giveRightsAgain();
    }
  });
}

/** Rights go with what they are rights on. */
async function giveRightsAgain(): Promise<void> {
  for (const { name, level, right } of people) {
    if (level === "root" || level === "none") continue;
    const body = { user: toIdentifier(name), permissions: oneRight(level, right) };
    await root.ok("UpdatePermissions", encodeUpdatePermissions(body));
  }
}

/** Logins carry no numbers. */
function headerOf(name: CommandName) {
  return name.startsWith("Login") ? { session: 0n, request: 0n } : {};
}

test("One's own account and password are everybody's.", async () => {
  for (const { name, client, level } of people) {
    if (level === "root") continue;
    assert.equal(
      (await client.command("GetUser", encodeGetUser({ user: toIdentifier(name) }))).code,
      0,
      name,
    );
    assert.equal((await client.command("ChangePassword", changePasswordBody(name))).code, 0, name);
  }
});

test("Without a login a command is served, refused or ends the connection as its row says.", async () => {
  for (const [, name, withoutLogin] of COMMAND_RIGHTS) {
    const client = server.connect();
    client.client = 999n;
    const answer = await client.command(name, bodyOf(name), headerOf(name));
    if (name === "LoginRegisterWithPat") continue;
    assert.equal(outcomeOf(answer), withoutLogin, name);
    tested(name, STRANGER, withoutLogin === "served" ? "allowed" : "denied");
    client.close();
  }
});

function outcomeOf({ code, eviction }: Answer): WithoutLogin | string {
  if (eviction !== undefined) return `eviction ${eviction.reason}`;
  return code === 0 ? "served" : `status ${code}`;
}

test("A token logs in without a login before it; what nobody has ends in eviction 10.", async () => {
  const client = server.connect();
  const prefix = { protocolVersion: PROTOCOL_VERSION, sdkName: "test", sdkVersion: "1", context: "" };
  const body = encodeLoginRegisterWithPat({ ...prefix, token: "nobody's" });
  const answer = await client.command("LoginRegisterWithPat", body, { session: 0n, request: 0n });
  assert.equal(answer.eviction?.reason, EvictionReason.InvalidToken);
  tested("LoginRegisterWithPat", STRANGER, "allowed");
});

test("A flush, and a read without a login where there is no cluster, are refused to everybody.", async () => {
  for (const command of ["FlushUnsavedBuffer", "ReadWithoutLogin"] as const) {
    for (const { client, name } of people) {
      const { code } = await client.command(command, bodyOf(command));
      assert.equal(code, ErrorCode.FeatureUnavailable, name);
      tested(command, name, "denied");
    }
  }
});

test("A legacy login ends the connection of anybody.", async () => {
  for (const legacy of ["LoginUser", "LoginWithPersonalAccessToken"] as const) {
    for (const person of people) {
      const client = await loginAgain(person);
      const answer = await client.command(legacy);
      assert.equal(answer.eviction?.reason, EvictionReason.MalformedLogin, person.name);
      tested(legacy, person.name, "denied");
    }
  }
});

test("Everybody may log out, and has no session then.", async () => {
  for (const person of people) {
    const client = await loginAgain(person);
    assert.equal((await client.command("LogoutUser")).code, 0, person.name);
    assert.equal((await client.command("GetMe")).code, ErrorCode.Unauthenticated, person.name);
    tested("LogoutUser", person.name, "allowed");
  }
});

let logins = 5000n;

/** The same person on another connection, which may end. */
async function loginAgain({ name, level }: Person): Promise<TestClient> {
  const client = server.connect();
  logins += 1n;
  const login = { client: logins, username: name, password: level === "root" ? "iggy" : PASSWORD };
  assert.equal((await client.login(login)).code, 0, name);
  return client;
}

test("No cell of command x right is untested: no login, no rights, each right at each level, root.", () => {
  const persons = [STRANGER, ...people.map(({ name }) => name)];
  const rightsCount = RIGHTS.global.length + 2 * RIGHTS.stream.length + 2 * RIGHTS.topic.length;
  assert.equal(persons.length, 3 + rightsCount, "each right where it counts, and on another stream or topic");
  const wanted = COMMANDS.flatMap(({ name }) => persons.map((person) => `${name} for ${person}`));
  assert.deepEqual(
    wanted.filter((cell) => !cells.has(cell)),
    [],
  );
  assert.equal(cells.size, COMMANDS.length * persons.length);
  for (const [, name, , needs] of COMMAND_RIGHTS) {
    if (typeof needs === "string") continue;
    const outcomes = new Set(people.map((person) => cells.get(`${name} for ${person.name}`)));
    assert.deepEqual([...outcomes].sort(), ["allowed", "denied"], `${name} is for some and not for others`);
  }
});
