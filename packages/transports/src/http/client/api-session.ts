import { CodedError, ErrorCode } from "@millrace/errors";
import {
  type CommandName,
  decodeBody,
  decodeLoginRegister,
  decodeLoginRegisterWithPat,
  encodeLoginReply,
  PROTOCOL_VERSION,
} from "@millrace/protocol";
import { writeJson } from "../json/write-json.ts";
import type { ApiAnswer } from "./api-answer.ts";
import type { ApiPeer, ApiRequest } from "./api-peer.ts";
import { CALLS } from "./calls/calls.table.ts";

/** The API tells neither the number of a session nor the version of a server at a login. */
const SESSION = 1;
const SERVER_VERSION = "unknown";

const NOTHING = new Uint8Array(0);

/** A login at a server of the HTTP API, and the commands of the binary protocol in the words of that API. */
export class ApiSession {
  readonly #peer: ApiPeer;
  #loginRequest: ApiRequest | undefined;
  #token: string | undefined;

  constructor(peer: ApiPeer) {
    this.#peer = peer;
  }

  /**
   * Carries out one command and returns the payload of its binary reply.
   *
   * A token that is good no longer, since its hour is over or the server was started again, is renewed by
   * logging in again, once.
   * @param body  of the binary request, borrowed for the call
   * @throws CodedError the server's code and words; FeatureUnavailable for what the API has no route for;
   *         OutcomeUnknown for a write that the server does not know the outcome of
   * @throws Error the system's, when the connection is lost
   */
  async answer(command: CommandName, body: Uint8Array): Promise<Uint8Array> {
    if (command === "Ping") return this.#ping();
    if (command === "LoginRegister") return this.#login(body);
    if (command === "LogoutUser") return this.#logout();
    const makeCall = CALLS.get(command);
    if (makeCall === undefined) throw notCarried(command);
    const { payloadOf, mayBeMissing, ...request } = decodeBody(makeCall, body);
    const answer = await this.#authorized(request);
    if (answer.isSuccess) return payloadOf?.(answer) ?? NOTHING;
    if (mayBeMissing === true && answer.isMissing) return NOTHING;
    throw failureOf(answer, request);
  }

  async #ping(): Promise<Uint8Array> {
    const answer = await this.#peer.send({ method: "GET", path: "/ping" });
    if (!answer.isSuccess) throw answer.failure();
    return NOTHING;
  }

  async #login(body: Uint8Array): Promise<Uint8Array> {
    this.#loginRequest = loginRequest(body);
    const userId = await this.#logIn(this.#loginRequest);
    return encodeLoginReply({
      userId,
      session: SESSION,
      serverProtocolVersion: PROTOCOL_VERSION,
      serverVersion: SERVER_VERSION,
    });
  }

  async #logIn(request: ApiRequest): Promise<number> {
    const answer = await this.#peer.send(request);
    if (!answer.isSuccess) throw answer.failure();
    const identity = answer.fields();
    this.#token = identity.object("access_token").text("token");
    return identity.u32("user_id");
  }

  async #logout(): Promise<Uint8Array> {
    const answer = await this.#authorized({ method: "DELETE", path: "/users/logout" });
    this.#token = undefined;
    this.#loginRequest = undefined;
    if (!answer.isSuccess) throw answer.failure();
    return NOTHING;
  }

  async #authorized(request: ApiRequest): Promise<ApiAnswer> {
    const answer = await this.#peer.send({ ...request, token: this.#token });
    if (answer.status !== 401 || this.#loginRequest === undefined) return answer;
    await this.#logIn(this.#loginRequest);
    return this.#peer.send({ ...request, token: this.#token });
  }
}

function loginRequest(body: Uint8Array): ApiRequest {
  const byPassword = decodedOrNone(decodeLoginRegister, body);
  if (byPassword !== undefined) {
    const { username, password, sdkVersion: version, context } = byPassword;
    return post("/users/login", { username, password, version, context });
  }
  const { token } = decodeBody(decodeLoginRegisterWithPat, body);
  return post("/personal-access-tokens/login", { token });
}

function post(path: string, body: Readonly<Record<string, string>>): ApiRequest {
  return { method: "POST", path, body: writeJson(body) };
}

/** Both logins share an operation: the one that does not decode is the other. */
function decodedOrNone<T>(decode: (bytes: Uint8Array) => T, body: Uint8Array): T | undefined {
  try {
    return decodeBody(decode, body);
  } catch {
    return undefined;
  }
}

/** HTTP gives requests no identity, so a write whose outcome is open cannot be sent again. */
function failureOf(answer: ApiAnswer, { method }: ApiRequest): CodedError {
  const failure = answer.failure();
  if (method === "GET" || failure.code !== ErrorCode.TransientNotCommitted) return failure;
  return new CodedError(ErrorCode.OutcomeUnknown, failure.message, { cause: failure });
}

function notCarried(command: CommandName): CodedError {
  const message = `The HTTP API has no route for ${command}: connect with the transport tcp, ws or grpc.`;
  return new CodedError(ErrorCode.FeatureUnavailable, message, { details: { command } });
}
