import {
  decodeCreatePersonalAccessTokenReply,
  encodeCreatePersonalAccessToken,
  encodeCreateUser,
  encodeLoginRegisterWithPat,
  NO_OPTIONS,
  type Permissions,
  PROTOCOL_VERSION,
} from "@millrace/protocol";
import type { Answer, TestClient } from "./test-client.ts";

/** Password of the users that `createUser` makes. */
export const PASSWORD = "secret";

/** Creates a user as root. */
export function createUser(
  root: TestClient,
  username: string,
  options: { password?: string; permissions?: Permissions; status?: "active" | "inactive" } = {},
): Promise<Answer> {
  const { password = PASSWORD, permissions, status = "active" } = options;
  const body = encodeCreateUser({ username, password, status, permissions, options: NO_OPTIONS });
  return root.command("CreateUser", body);
}

/** Creates a token for whoever is logged in; its text. */
export async function createToken(client: TestClient, name: string, expiryMicros = 0n): Promise<string> {
  const body = encodeCreatePersonalAccessToken({ name, expiryMicros });
  return decodeCreatePersonalAccessTokenReply(await client.ok("CreatePersonalAccessToken", body));
}

/** Logs in with a token. */
export async function loginWithToken(client: TestClient, token: string, clientId: bigint): Promise<Answer> {
  client.client = clientId;
  const prefix = { protocolVersion: PROTOCOL_VERSION, sdkName: "test", sdkVersion: "1", context: "" };
  const body = encodeLoginRegisterWithPat({ ...prefix, token });
  const answer = await client.command("LoginRegisterWithPat", body, { session: 0n, request: 0n });
  if (answer.eviction === undefined && answer.code === 0) {
    client.session = answer.header.op;
    client.nextNumber = 1n;
  }
  return answer;
}
