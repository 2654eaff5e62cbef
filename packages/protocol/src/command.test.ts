import assert from "node:assert/strict";
import { test } from "node:test";
import { ALL_CODECS } from "./all-codecs.compliance.ts";
import { CommandCode } from "./command.table.ts";
import { COMMANDS, commandByCode, commandByOperation, isLegacyLogin } from "./command.ts";
import { Operation } from "./operation.table.ts";

/**
 * Commands without a request body, as section 7 lists them, and the legacy logins, which are never decoded.
 */
const BODILESS = [
  "Ping",
  "GetStats",
  "GetClusterMetadata",
  "GetMe",
  "GetClients",
  "GetUsers",
  "GetPersonalAccessTokens",
  "GetStreams",
  "LogoutUser",
  "LoginUser",
  "LoginWithPersonalAccessToken",
];

test("the table holds every command of the specification, and those of our own", () => {
  assert.equal(COMMANDS.filter(({ code }) => code < 20_000).length, 55);
  assert.deepEqual(
    COMMANDS.filter(({ code }) => code >= 20_000).map(({ name }) => name),
    ["VerifyPartition", "RepairPartition", "GetTopicRetention", "GetClusterGroups", "ReadWithoutLogin"],
  );
  assert.equal(Object.keys(ALL_CODECS).length, COMMANDS.length);
});

test("every command has a codec for its body or has no body", () => {
  for (const { name } of COMMANDS) {
    assert.equal(ALL_CODECS[name].request === undefined, BODILESS.includes(name), name);
  }
});

test("codes ascend, so none is given twice", () => {
  const codes = COMMANDS.map((command) => command.code);
  assert.deepEqual(
    codes,
    [...new Set(codes)].sort((a, b) => a - b),
  );
});

test("an operation byte of its own belongs to one command, but for the two logins", () => {
  const own = COMMANDS.filter(({ operation }) => operation !== Operation.NonReplicated);
  for (const command of own) {
    const sharing = own.filter(({ operation }) => operation === command.operation).map(({ name }) => name);
    const expected =
      command.operation === Operation.Register ? ["LoginRegister", "LoginRegisterWithPat"] : [command.name];
    assert.deepEqual(sharing, expected);
  }
});

test("a command is found by its code and by its operation", () => {
  for (const command of COMMANDS) {
    assert.equal(commandByCode(command.code), command);
    if (command.operation === Operation.NonReplicated) continue;
    const expected = command.name === "LoginRegisterWithPat" ? "LoginRegister" : command.name;
    assert.equal(commandByOperation(command.operation)?.name, expected);
  }
});

test("unknown codes, NonReplicated and internal operations are no command", () => {
  for (const code of [0, 2, 23, 60_000, 0xffff_ffff]) assert.equal(commandByCode(code), undefined);
  for (const operation of [0, 2, 64, 66, 68, 127, 150, 163, 255]) {
    assert.equal(commandByOperation(operation), undefined);
  }
});

test("planes follow the operation", () => {
  const planeOf = (code: number) => commandByCode(code)?.plane;
  assert.equal(planeOf(CommandCode.GetStream), "direct");
  assert.equal(planeOf(CommandCode.LoginRegister), "session");
  assert.equal(planeOf(CommandCode.LogoutUser), "session");
  assert.equal(planeOf(CommandCode.CreateTopic), "metadata");
  assert.equal(planeOf(CommandCode.SendMessages), "partition");
});

test("the reply to DeleteSegments says TruncatePartition and has a result section", () => {
  const command = commandByCode(CommandCode.DeleteSegments);
  assert.equal(command?.replyOperation, Operation.TruncatePartition);
  assert.equal(command?.resultSection, true);
});

test("only the codes 38 and 44 are legacy logins", () => {
  assert.deepEqual(
    COMMANDS.filter(({ code }) => isLegacyLogin(code)).map(({ code }) => code),
    [38, 44],
  );
});
