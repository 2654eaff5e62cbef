import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ErrorCode } from "@millrace/errors";
import { encodeReplyHeader, HEADER_LENGTH, type Lease, operationAt } from "@millrace/framing";
import { TransportKind } from "@millrace/platform";
import { createSimPlatform } from "@millrace/platform/sim";
import { encodeLoginReply, encodeResultRejection, encodeResultSuccess, Operation } from "@millrace/protocol";
import { AnswerRoom } from "../../../virtual/answer-room.ts";
import { PARTITION_PATIENCE_MS } from "../../../virtual/command-session.ts";
import { Deadlines } from "../../../virtual/deadlines.ts";
import { DeliveryTurn } from "../../../virtual/delivery-turn.ts";
import type { VirtualConnection } from "../../../virtual/virtual-connection.ts";
import type { BatchRoom } from "../../../virtual/write-message.ts";
import { WriteSlots } from "../../../virtual/write-slots.ts";
import { HttpError } from "../../errors/http-error.ts";
import { AccessTokens } from "../access/access-tokens.ts";
import { HTTP_FAILURES } from "./http-failures.ts";
import { SessionTable } from "./session-table.ts";

const refused = (status: number, code: string) => (error: unknown) =>
  error instanceof HttpError && error.status === status && error.code === code;

/** A table before a broker that knows Register only, and answers other requests as told. */
function started(
  options: {
    seed?: number;
    sessionsMax?: number;
    answers?: readonly number[];
    silent?: boolean;
    loginCode?: number;
    whyNoLogin?: () => string | undefined;
  } = {},
) {
  const { clock, random } = createSimPlatform({ seed: options.seed ?? 5 });
  const connections: VirtualConnection[] = [];
  const answers = [...(options.answers ?? [])];
  const onConnection = (connection: VirtualConnection) => {
    connections.push(connection);
    connection.onMessage = (messageLease: Lease) => {
      const operation = operationAt(messageLease.view, 0);
      if (operation !== Operation.Register && options.silent === true) return;
      const login = {
        userId: connection.vouchedUser?.id ?? 3,
        session: 9,
        serverProtocolVersion: 1,
        serverVersion: "x",
      };
      const isLogin = operation === Operation.Register;
      const { loginCode = 0 } = options;
      const welcome =
        loginCode === 0 ? encodeResultSuccess(encodeLoginReply(login)) : encodeResultRejection(loginCode);
      const body = isLogin ? welcome : encodeResultSuccess();
      const status = isLogin ? 0 : (answers.shift() ?? 0);
      const header = new Uint8Array(HEADER_LENGTH);
      encodeReplyHeader(header, messageLease.bytes, { bodyLength: status === 0 ? body.length : 0, status });
      queueMicrotask(() => connection.send(status === 0 ? [header, body] : [header]));
    };
  };
  const jwt = {
    algorithm: "HS256",
    issuer: "me",
    audience: "me",
    validIssuers: ["me"],
    validAudiences: ["me"],
    expirySeconds: 60,
    clockSkewSeconds: 0,
    notBeforeSeconds: 0,
    trustedIssuers: [],
  } as const;
  const tokens = new AccessTokens(jwt, { clock, random });
  const parts = {
    clock,
    random,
    failures: HTTP_FAILURES,
    transport: TransportKind.http,
    sdkName: "http",
    room: {} as BatchRoom,
    answers: new AnswerRoom(),
    turn: new DeliveryTurn(),
    deadlines: new Deadlines(clock, PARTITION_PATIENCE_MS),
    writeSlots: new WriteSlots(),
    onConnection,
  };
  const { sessionsMax = 10, whyNoLogin } = options;
  const table = new SessionTable({ parts, tokens, sessionsMax, idleSeconds: 60, whyNoLogin });
  const login = () => table.login({ username: "abc", password: "abc" }, "peer:1");
  return { clock, table, tokens, connections, login };
}

describe("The table of sessions", () => {
  it("keeps one session per login, found by any of its tokens", async () => {
    const { table, login, connections } = started();
    const identity = await login();
    assert.equal(identity.userId, 3);
    assert.equal(table.known(identity.token), undefined, "a token is verified before it is known");
    const session = await table.find(identity.token, "peer:1");
    assert.equal(table.known(identity.token), session);
    assert.equal(table.known(`x${identity.token}`), undefined, "all of a token counts, not only its end");
    assert.equal(table.known(identity.token.slice(1)), undefined);
    const again = await table.refresh(identity.token);
    assert.equal(await table.find(again.token, "peer:1"), session);
    assert.equal(connections.length, 1);
    table.close();
  });

  it("says why nobody can log in, where that is known and the reason of the refusal", async () => {
    const why = "It reaches 1 of 3 nodes.";
    const reasonOf = async (loginCode: number, whyNoLogin: () => string | undefined) => {
      const { table, login, clock } = started({ loginCode, whyNoLogin });
      const refusal = login().catch((error: HttpError) => JSON.parse(error.body()));
      await clock.run(60_000);
      table.close();
      return refusal;
    };
    const told = await reasonOf(ErrorCode.TransientNotAccepted, () => why);
    assert.deepEqual([told.id, told.reason], [ErrorCode.TransientNotAccepted, why]);
    assert.notEqual((await reasonOf(ErrorCode.TransientNotAccepted, () => undefined)).reason, why);
    assert.notEqual((await reasonOf(ErrorCode.InvalidCredentials, () => why)).reason, why);
  });

  it("makes a session once for requests that come together, and again after it ended", async () => {
    const { table, login, connections } = started();
    const { token } = await login();
    connections[0]?.close();
    assert.equal(table.count, 0);
    const [one, other] = await Promise.all([table.find(token, "a"), table.find(token, "a")]);
    assert.equal(one, other);
    assert.deepEqual([connections.length, connections[1]?.vouchedUser?.id], [2, 3]);
    table.close();
  });

  it("ends sessions whose last token has ended, and the tokens with them", async () => {
    const { table, tokens, login, clock } = started();
    const { token } = await login();
    await table.find(token, "a");
    await clock.run(30_000);
    const { token: second } = await table.refresh(token);
    await clock.run(35_000);
    assert.equal(table.known(token), undefined);
    await assert.rejects(table.find(token, "a"), refused(401, "unauthenticated"));
    await assert.rejects(table.refresh(token), refused(401, "unauthenticated"));
    assert.equal(table.count, 1, "the second token keeps it");
    await table.find(second, "a");
    await clock.run(70_000);
    assert.equal(table.count, 0);
    assert.ok(tokens.nowSeconds() > 0);
    table.close();
  });

  it("refuses logins beyond its bound, those under way included, and all after it closed", async () => {
    const { table, login } = started({ sessionsMax: 2 });
    const logins = await Promise.allSettled([login(), login(), login()]);
    assert.deepEqual(
      logins.map(({ status }) => status),
      ["fulfilled", "fulfilled", "rejected"],
    );
    await assert.rejects(login(), refused(503, "transient_not_accepted"));
    table.close();
    assert.equal(table.count, 0);
    await assert.rejects(login(), refused(503, "shutting_down"));
  });

  it("answers 409 to a good token whose session belongs to another user", async () => {
    const { table, tokens, login } = started();
    const { token } = await login();
    const { sessionKey } = await tokens.verify(token);
    const other = await tokens.issue(4, sessionKey, 0);
    await assert.rejects(table.find(other.token, "a"), refused(409, "invalid_client_id"));
    table.close();
  });

  it("takes no token another secret signed, nor one whose claims were changed", async () => {
    const { table, login } = started();
    const { token } = await login();
    const other = started({ seed: 6 });
    const foreign = await other.login();
    await assert.rejects(table.find(foreign.token, "a"), refused(401, "unauthenticated"));
    const [head, claims = "", signature] = token.split(".");
    const changed = JSON.parse(Buffer.from(claims, "base64url").toString());
    const forged = Buffer.from(JSON.stringify({ ...changed, sub: "0" })).toString("base64url");
    await assert.rejects(table.find(`${head}.${forged}.${signature}`, "a"), refused(401, "unauthenticated"));
    const none = Buffer.from('{"alg":"none","typ":"JWT"}').toString("base64url");
    await assert.rejects(table.find(`${none}.${claims}.`, "a"), refused(401, "unauthenticated"));
    table.close();
    other.table.close();
  });
});

describe("A session", () => {
  it("repeats a change of the catalog while the answer is not now", async () => {
    const { table, login, clock } = started({ answers: [58, 57, 0] });
    const session = await table.find((await login()).token, "a");
    let isDone = false;
    const asked = session.ask("CreateStream").then(() => {
      isDone = true;
    });
    for (let turn = 0; turn < 50 && !isDone; turn++) {
      await new Promise((resolve) => setImmediate(resolve));
      await clock.run(20);
    }
    assert.equal(isDone, true);
    await asked;
    table.close();
  });

  it("repeats nothing once nobody waits for the answer", async () => {
    const { table, login } = started({ answers: [58, 0] });
    const session = await table.find((await login()).token, "a");
    await assert.rejects(
      session.ask("CreateStream", undefined, () => false),
      refused(503, "transient_not_accepted"),
    );
    table.close();
  });

  it("does not wait longer for a partition than ten seconds, and says 504", async () => {
    const { table, login, clock } = started({ silent: true });
    const session = await table.find((await login()).token, "a");
    const poll = assert.rejects(session.ask("PollMessages"), refused(504, "partition_read_timeout"));
    const store = assert.rejects(session.ask("StoreConsumerOffset"), refused(504, "offset_write_timeout"));
    await new Promise((resolve) => setImmediate(resolve));
    await clock.run(PARTITION_PATIENCE_MS + 500);
    await Promise.all([poll, store]);
    assert.equal(session.writesInFlight, 0);
    table.close();
  });

  it("fails what is unanswered with 503 when it ends", async () => {
    const { table, login } = started({ silent: true });
    const session = await table.find((await login()).token, "a");
    const asked = assert.rejects(session.ask("GetStreams"), refused(503, "transient_not_committed"));
    session.end();
    await asked;
    table.close();
  });

  it("waits for at most 32 writes, and the server for 128", () => {
    const slots = new WriteSlots();
    const sessions = Array.from({ length: 5 }, () => ({ writesInFlight: 0 }));
    for (const session of sessions.slice(0, 4)) for (let count = 0; count < 32; count++) slots.take(session);
    const [first, last] = [sessions[0], sessions[4]];
    assert.ok(first !== undefined && last !== undefined);
    assert.deepEqual([slots.take(first), slots.take(last)], [false, false]);
    slots.give(first);
    slots.take(last);
    assert.deepEqual([first.writesInFlight, last.writesInFlight], [31, 1]);
  });
});
