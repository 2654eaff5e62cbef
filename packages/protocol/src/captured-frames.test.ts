import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeRequestHeader, isWireError } from "@millrace/framing";
import { type CapturedFrame, capturedFrames, fromHex } from "@millrace/testkit";
import { ALL_CODECS } from "./all-codecs.compliance.ts";
import { type Command, commandByCode, commandByOperation } from "./command.ts";
import { Operation } from "./operation.table.ts";
import { decodeLoginRegister } from "./sessions/login-register.ts";
import { decodeLoginRegisterWithPat } from "./sessions/login-register-with-pat.ts";

/** The command a frame carries, found from its header as a server does. */
function commandOf(frame: Uint8Array): Command | undefined {
  const header = decodeRequestHeader(frame);
  if (header.operation === Operation.NonReplicated) return commandByCode(header.code);
  return commandByOperation(header.operation);
}

/** A login with a token shares its operation with the password login; a server tries that one first. */
function requestCodecOf(command: Command, body: Uint8Array) {
  if (command.operation !== Operation.Register) return ALL_CODECS[command.name].request;
  const { LoginRegister, LoginRegisterWithPat } = ALL_CODECS;
  try {
    LoginRegister.request?.decode(body);
    return LoginRegister.request;
  } catch {
    return LoginRegisterWithPat.request;
  }
}

/** Length of what an encoder of ours writes: no batch, and not the word that the SDK adds to DeleteTopic. */
function encodedLength(command: Command, body: Uint8Array): number {
  if (command.name === "SendMessages")
    return 4 + new DataView(body.buffer, body.byteOffset).getUint32(0, true);
  return command.name === "DeleteTopic" ? body.length - 4 : body.length;
}

function checkFrame(frame: CapturedFrame): void {
  const bytes = fromHex(frame.hex);
  const body = bytes.subarray(frame.body_offset);
  const command = commandOf(bytes);
  if (frame.name === "raw_unknown_60000") {
    assert.equal(command, undefined);
    return;
  }
  assert.ok(command !== undefined);
  const codec = requestCodecOf(command, body);
  if (codec === undefined) {
    assert.equal(body.length, 0);
    return;
  }
  assert.deepEqual(codec.encode(codec.decode(body)), body.slice(0, encodedLength(command, body)));
}

const FRAMES = capturedFrames();

test("every recorded frame of the official SDK is here", () => {
  assert.equal(FRAMES.length, 73);
});

for (const frame of FRAMES) {
  test(`${frame.name}: the frame's body is read by its codec and written again byte for byte`, () => {
    checkFrame(frame);
  });
}

test("a recorded login with a token is not taken for one with a password", () => {
  const frame = FRAMES.find((one) => one.name === "token_login_2_register");
  const body = fromHex(frame?.hex ?? "").subarray(frame?.body_offset);
  assert.equal(decodeLoginRegisterWithPat(body).token, "rawtoken");
  assert.throws(() => decodeLoginRegister(body), isWireError);
});
