import assert from "node:assert/strict";
import { test } from "node:test";
import { CodedError, ERROR_ROWS, ErrorCode } from "@millrace/errors";
import { flattened, treeOf } from "../completion/command-tree.ts";
import { ExitCode } from "../exit-codes.ts";
import { LineTooLongError } from "../formats/lines.ts";
import { createProgram } from "../program.ts";
import { exitCodeOf, failureOf } from "./failure.ts";
import { nextStep } from "./next-step.ts";
import { reportText } from "./report.ts";
import { RIGHT_OF_COMMAND } from "./rights.table.ts";

test("codes of access, of absence and of the connection have exit codes of their own", () => {
  assert.equal(exitCodeOf(ErrorCode.PersonalAccessTokenExpired), ExitCode.access);
  assert.equal(exitCodeOf(ErrorCode.ConsumerGroupIdNotFound), ExitCode.notFound);
  assert.equal(exitCodeOf(ErrorCode.Disconnected), ExitCode.connection);
  assert.equal(exitCodeOf(ErrorCode.DiskFull), ExitCode.failed);
  const notFound = ERROR_ROWS.filter(
    ([code, name]) =>
      /^(Stream|Topic|Partition|Client)(Id|Name)?NotFound$/.test(name) &&
      exitCodeOf(code) !== ExitCode.notFound,
  );
  assert.deepEqual(notFound, []);
});

test("every bound that a server may reach says what makes room", () => {
  for (const code of [
    ErrorCode.TooManyConsumerOffsets,
    ErrorCode.TooManyConsumerGroups,
    ErrorCode.TooManyUsers,
    ErrorCode.TooManyPartitions,
    ErrorCode.PersonalAccessTokensLimitReached,
    ErrorCode.FrameTooLarge,
    ErrorCode.DiskFull,
  ]) {
    assert.ok(nextStep(code, {}), `code ${code}`);
  }
});

test("what to do next names things as they were typed, quoted where a shell needs it", () => {
  assert.match(nextStep(ErrorCode.TopicIdNotFound, { stream: "shop" }) ?? "", /millrace topic list shop$/);
  assert.match(
    nextStep(ErrorCode.TopicIdNotFound, { stream: "my shop's" }) ?? "",
    /topic list 'my shop'\\''s'$/,
  );
  assert.match(nextStep(ErrorCode.TopicIdNotFound, {}) ?? "", /topic list STREAM$/);
  assert.match(
    nextStep(ErrorCode.ResourceNotFound, { stream: "s", topic: "t" }) ?? "",
    /topic get s t\. List the streams/,
  );
  assert.match(nextStep(ErrorCode.ResourceNotFound, { stream: "s" }) ?? "", /stream list$/);
  assert.equal(nextStep(ErrorCode.Error, {}), undefined);
  const place = { stream: "s", topic: "t" };
  const toRead = nextStep(ErrorCode.PartitionDamaged, { command: "message poll", ...place }) ?? "";
  assert.match(toRead, /topic verify s t\. .*poll from an offset behind/);
  const toWrite = nextStep(ErrorCode.PartitionDamaged, { command: "message send", ...place }) ?? "";
  assert.match(toWrite, /topic verify s t\. .*partition repair s t PARTITION$/);
  assert.match(
    nextStep(ErrorCode.FeatureUnavailable, { command: "snapshot" }) ?? "",
    /--compression deflated/,
  );
});

test("another server is named by the option of the transport that was used", () => {
  const said = (transport: string) => nextStep(ErrorCode.CannotEstablishConnection, { transport }) ?? "";
  assert.match(said("tcp"), /Name another with --tcp-server-address HOST:PORT before/);
  assert.match(said("ws"), /Name another with --websocket-server-address HOST:PORT before/);
  assert.match(said("http"), /Name another with --http-api-url http:\/\/HOST:PORT before/);
  const refused = Object.assign(new Error("connect ECONNREFUSED"), { syscall: "connect" });
  assert.match(failureOf(refused, { transport: "http" }).next ?? "", /--http-api-url/);
});

test("an authority is named by the option of the transport that was used", () => {
  for (const [transport, option] of [
    ["tcp", "tcp"],
    ["ws", "websocket"],
    ["http", "http"],
  ] as const) {
    const said = nextStep(ErrorCode.InvalidTlsCertificate, { transport }) ?? "";
    assert.match(said, new RegExp(`--${option}-tls-ca-file FILE, .*--${option}-tls-domain NAME`));
    assert.equal(said.match(/-tls-ca-file/g)?.length, 1);
    const unreadable = nextStep(ErrorCode.InvalidTlsCertificatePath, { transport });
    assert.equal(unreadable, `Check --${option}-tls-ca-file.`);
  }
});

test("a refused option of a topic is one of those that were typed", () => {
  const set = [
    { key: "segment_size", value: "1" },
    { key: "colour", value: "red" },
  ];
  for (const code of [ErrorCode.UnsupportedOptionKey, ErrorCode.InvalidOptionValue]) {
    const next = nextStep(code, { set }) ?? "";
    assert.match(next, /one of those that --set gave: segment_size=1, colour=red\. List the options/);
    assert.match(nextStep(code, {}) ?? "", /^List the options/);
  }
});

test("names and passwords of the wrong length are a wrong command line, but of a login a matter of access", () => {
  for (const code of [ErrorCode.InvalidUsername, ErrorCode.InvalidPassword]) {
    const error = new CodedError(code);
    for (const command of ["user create", "user name", "user password"])
      assert.equal(failureOf(error, { command }).exitCode, ExitCode.usage, command);
    assert.equal(failureOf(error, { command: "stream list" }).exitCode, ExitCode.access);
  }
  for (const code of [ErrorCode.InvalidConnectionString, ErrorCode.InvalidPersonalAccessTokenName])
    assert.equal(failureOf(new CodedError(code), {}).exitCode, ExitCode.usage);
});

test("errors of the system become coded ones", () => {
  const refused = Object.assign(new Error("connect ECONNREFUSED"), { syscall: "connect" });
  assert.equal(failureOf(refused, {}).exitCode, ExitCode.connection);
  const unreadable = Object.assign(new Error("EACCES: permission denied"), { syscall: "open" });
  assert.equal(failureOf(unreadable, {}).code, ErrorCode.CannotReadFile);
  assert.equal(failureOf(new LineTooLongError(3), {}).code, ErrorCode.TooBigMessagePayload);
  const unknown = failureOf(new TypeError("we are wrong"), {});
  assert.deepEqual(
    [unknown.exitCode, unknown.code, unknown.message],
    [ExitCode.failed, undefined, "we are wrong"],
  );
});

test("a report shows code, causes and advice, and never raw control characters", () => {
  const cause = new Error("inner\u001b[2J", { cause: new Error("innermost") });
  const failure = failureOf(new CodedError(ErrorCode.StreamIdNotFound, 'No stream "a\nb".', { cause }), {});
  assert.equal(
    reportText(failure, "table"),
    'error: No stream "a\\nb". (1009 StreamIdNotFound)\n' +
      "  because: inner\\u001b[2J\n  because: innermost\n" +
      "  next: List the streams with: millrace stream list\n",
  );
  assert.deepEqual(JSON.parse(reportText(failure, "json")).error.causes, ["inner\u001b[2J", "innermost"]);
});

test("a chain of causes that never ends is cut", () => {
  const endless = new Error("again");
  endless.cause = endless;
  assert.equal(failureOf(endless, {}).causes.length, 8);
});

test("a refusal for want of a right names the least one that is enough, for commands that exist", () => {
  const denied = new CodedError(ErrorCode.Unauthorized, "no");
  assert.match(
    failureOf(denied, { command: "stream create" }).next ?? "",
    /^It takes the right manage_streams, or a higher one\. Log in .*millrace user permissions$/,
  );
  assert.match(failureOf(denied, { command: "topic verify" }).next ?? "", /^Log in as a user with/);
  const known = flattened(treeOf(createProgram(() => async () => {}))).map(({ place }) => place);
  for (const command of RIGHT_OF_COMMAND.keys()) assert.ok(known.includes(`millrace ${command}`), command);
});

test("what one transport cannot carry is advised to take another", () => {
  const missing = new CodedError(ErrorCode.FeatureUnavailable, "no route");
  assert.match(failureOf(missing, { transport: "http" }).next ?? "", /^Use --transport tcp/);
  assert.match(failureOf(missing, { transport: "tcp" }).next ?? "", /millrace stats/);
});
