import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ErrorCode, isCodedError } from "@millrace/errors";
import { encodeReplyHeader, HEADER_LENGTH } from "@millrace/framing";
import { TransportKind } from "@millrace/platform";
import { createSimPlatform } from "@millrace/platform/sim";
import { encodeLoginReply, encodeResultSuccess } from "@millrace/protocol";
import { AnswerRoom } from "../../../virtual/answer-room.ts";
import { PARTITION_PATIENCE_MS } from "../../../virtual/command-session.ts";
import { Deadlines } from "../../../virtual/deadlines.ts";
import { DeliveryTurn } from "../../../virtual/delivery-turn.ts";
import type { VirtualConnection } from "../../../virtual/virtual-connection.ts";
import type { BatchRoom } from "../../../virtual/write-message.ts";
import { WriteSlots } from "../../../virtual/write-slots.ts";
import { GRPC_FAILURES } from "./grpc-failures.ts";
import { UnarySessions } from "./unary-sessions.ts";

/** Sessions before a broker that answers every login. */
function started() {
  const { clock, random } = createSimPlatform({ seed: 7 });
  const onConnection = (connection: VirtualConnection) => {
    connection.onMessage = ({ bytes }) => {
      const login = { userId: 3, session: 9, serverProtocolVersion: 1, serverVersion: "x" };
      const body = encodeResultSuccess(encodeLoginReply(login));
      const header = new Uint8Array(HEADER_LENGTH);
      encodeReplyHeader(header, bytes, { bodyLength: body.length });
      queueMicrotask(() => connection.send([header, body]));
    };
  };
  const parts = {
    clock,
    random,
    failures: GRPC_FAILURES,
    transport: TransportKind.grpc,
    sdkName: "grpc",
    room: {} as BatchRoom,
    answers: new AnswerRoom(),
    turn: new DeliveryTurn(),
    deadlines: new Deadlines(clock, PARTITION_PATIENCE_MS),
    writeSlots: new WriteSlots(),
    onConnection,
  };
  return { clock, sessions: new UnarySessions({ parts, sessionsMax: 2, onQuiet: () => {} }) };
}

const WHO = { username: "abc", password: "abc" };

describe("The sessions of unary calls", () => {
  it("end after a minute without a call when they are members of a group, others after an hour", async () => {
    const { clock, sessions } = started();
    const member = await sessions.find((await sessions.login(WHO, "peer:1")).token, "peer:1");
    const { token } = await sessions.login(WHO, "peer:2");
    const other = await sessions.find(token, "peer:2");
    sessions.becomeMember(member);
    await clock.run(45_000);
    assert.deepEqual([member.isEnded, other.isEnded], [false, false]);
    await clock.run(30_000);
    assert.deepEqual([member.isEnded, other.isEnded], [true, false], "its partitions go to other members");
    await clock.run(3_400_000);
    assert.equal(await sessions.find(token, "peer:2"), other, "a call begins the hour anew");
    await clock.run(3_620_000);
    assert.equal(other.isEnded, true);
    sessions.close();
  });

  it("have a bound", async () => {
    const { sessions } = started();
    await sessions.login(WHO, "peer:1");
    await sessions.login(WHO, "peer:2");
    await assert.rejects(sessions.login(WHO, "peer:3"), (error: unknown) =>
      isCodedError(error, ErrorCode.TransientNotAccepted),
    );
    sessions.close();
  });
});
