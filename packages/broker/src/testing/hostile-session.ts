import assert from "node:assert/strict";
import { ErrorCode, isKnownErrorCode } from "@millrace/errors";
import {
  type CommandName,
  decodeGetPersonalAccessTokensReply,
  decodeGetStreamsReply,
  decodeGetUsersReply,
  encodeDeletePersonalAccessToken,
  encodeDeleteStream,
  encodeDeleteUser,
  encodeLoginRegisterWithPat,
  PROTOCOL_VERSION,
  toIdentifier,
} from "@millrace/protocol";
import { bodyOf, restore } from "./rights-fixture.ts";
import type { Answer, TestClient } from "./test-client.ts";
import type { TestServer } from "./test-server.ts";

const ROOT_ID = 0;

/** A root session that is used for what nobody should send; when it ends it is opened again. */
export class HostileSession {
  readonly #server: TestServer;
  #client: TestClient;
  #ids = 1000n;

  private constructor(server: TestServer, client: TestClient) {
    this.#server = server;
    this.#client = client;
  }

  static async open(server: TestServer): Promise<HostileSession> {
    return new HostileSession(server, await server.login(1000n));
  }

  /** Sends a body under a command; the answer is a code of the table, or ends this session alone. */
  async send(name: CommandName, body: Uint8Array): Promise<Answer> {
    if (this.#client.isClosed || this.#client.session === 0n) await this.#again();
    const isLogin = name.startsWith("LoginRegister");
    const header = isLogin ? { session: 0n, request: 0n } : {};
    const answer = await this.#client.command(name, body, header);
    const said = `${name} of ${body.length} bytes: ${answer.code}`;
    assert.ok(answer.code === 0 || isKnownErrorCode(answer.code), said);
    assert.notEqual(answer.code, ErrorCode.Error, said);
    if (answer.eviction !== undefined) await this.#again();
    return answer;
  }

  /** Removes everything and puts the fixture back. */
  async cleanUp(): Promise<void> {
    await this.#again();
    const root = this.#client;
    for (const { id } of decodeGetStreamsReply(await root.ok("GetStreams"))) {
      await root.ok("DeleteStream", encodeDeleteStream({ stream: toIdentifier(id) }));
    }
    for (const { id } of decodeGetUsersReply(await root.ok("GetUsers"))) {
      if (id !== ROOT_ID) await root.ok("DeleteUser", encodeDeleteUser({ user: toIdentifier(id) }));
    }
    for (const { name } of decodeGetPersonalAccessTokensReply(await root.ok("GetPersonalAccessTokens"))) {
      await root.ok("DeletePersonalAccessToken", encodeDeletePersonalAccessToken({ name }));
    }
    await restore(root);
  }

  async #again(): Promise<void> {
    this.#client.close();
    this.#ids += 1n;
    this.#client = await this.#server.login(this.#ids);
    assert.notEqual(this.#client.session, 0n, "root can log in, whatever was sent before");
  }
}

/** A body that succeeds, for every command of the protocol that has a body. */
export function validBody(name: CommandName): Uint8Array {
  if (name !== "LoginRegisterWithPat") return bodyOf(name);
  const sdk = { protocolVersion: PROTOCOL_VERSION, sdkName: "test", sdkVersion: "1", context: "" };
  return encodeLoginRegisterWithPat({ ...sdk, token: "nobody's token" });
}
