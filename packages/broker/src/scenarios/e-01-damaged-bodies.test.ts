import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode } from "@millrace/errors";
import { COMMANDS, type CommandName, EvictionReason } from "@millrace/protocol";
import { HostileSession, validBody } from "../testing/hostile-session.ts";
import { restore } from "../testing/rights-fixture.ts";
import { TestServer } from "../testing/test-server.ts";

const NAMES = COMMANDS.map(({ name }) => name);
/** Commands with a result of their own kind for anything: refused to everybody, or an eviction. */
const REFUSED = new Set<CommandName>([
  "LoginUser",
  "LoginWithPersonalAccessToken",
  "FlushUnsavedBuffer",
  "GetSnapshot",
]);
/** What a body behind its last field is known to get besides 3: DeleteTopic may carry a u32 (ADR 0007). */
const MAY_CARRY_FOUR = new Set<CommandName>(["DeleteTopic"]);
/** A token's body and a byte may read as name and password: then nobody has these. */
const LOGIN_ENDINGS: readonly number[] = [EvictionReason.MalformedLogin, EvictionReason.InvalidCredentials];
/** Values of a length that lies: as one byte, and as a word. `n` is what stands there. */
const LIES_OF_A_BYTE = (n: number) => [0, 1, n - 1, n + 1, 0x80, 0xc3, 0xff];
const LIES_OF_A_WORD = (n: number) => [0, 1, n - 1, n + 1, 2 ** 31, 2 ** 32 - 1];

interface Scene {
  readonly server: TestServer;
  readonly session: HostileSession;
}

async function opened(): Promise<Scene> {
  const server = await TestServer.start();
  const bystander = await server.login(1n);
  await restore(bystander);
  const session = await HostileSession.open(server);
  return { server, session };
}

/** Another client works as before, and nothing of the memory for messages is held. */
async function closed({ server }: Scene): Promise<void> {
  const another = await server.login(2n);
  await restore(another);
  await another.ok("PollMessages", validBody("PollMessages"));
  await server.stop();
}

test("E-01: Every body cut at any length is answered by its code or ends its own session alone.", async () => {
  const scene = await opened();
  for (const name of NAMES) {
    const body = validBody(name);
    for (let length = 0; length < body.length; length += 1) {
      await scene.session.send(name, body.subarray(0, length));
    }
    await scene.session.cleanUp();
  }
  await closed(scene);
});

test("E-01: Every byte and every word of every body may lie as a length, or be no UTF-8, and harms nobody.", async () => {
  const scene = await opened();
  for (const name of NAMES) {
    for (const body of liesAbout(validBody(name))) await scene.session.send(name, body);
    await scene.session.cleanUp();
  }
  await closed(scene);
});

test("E-01: Bytes behind the last field of any body are refused with 3, however many; a login with them ends.", async () => {
  const scene = await opened();
  for (const name of NAMES.filter((one) => !REFUSED.has(one))) {
    for (const extra of [1, 4, 300]) {
      if (extra === 4 && MAY_CARRY_FOUR.has(name)) continue;
      const body = new Uint8Array([...validBody(name), ...new Uint8Array(extra)]);
      const said = `${name} and ${extra} bytes`;
      if (name.startsWith("LoginRegister")) {
        const header = { session: 0n, request: 0n, client: 77n };
        const { eviction } = await scene.server.connect().command(name, body, header);
        assert.ok(LOGIN_ENDINGS.includes(eviction?.reason ?? 0), said);
      } else assert.equal((await scene.session.send(name, body)).code, ErrorCode.InvalidCommand, said);
    }
  }
  await closed(scene);
});

function* liesAbout(body: Uint8Array): Generator<Uint8Array> {
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength);
  for (let at = 0; at < body.length; at += 1) {
    for (const lie of LIES_OF_A_BYTE(body[at] as number)) {
      const lying = body.slice();
      lying[at] = lie;
      yield lying;
    }
    if (at + 4 > body.length) continue;
    for (const lie of LIES_OF_A_WORD(view.getUint32(at, true))) {
      const lying = body.slice();
      new DataView(lying.buffer).setUint32(at, lie, true);
      yield lying;
    }
  }
}
