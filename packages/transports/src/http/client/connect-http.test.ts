import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, it } from "node:test";
import { type CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import { decodeReplyHeader, encodeRequestHeader, HEADER_LENGTH, HeapLeases } from "@millrace/framing";
import type { Connection } from "@millrace/platform";
import {
  COMMAND_OPERATIONS,
  CommandCode,
  type CommandName,
  decodeLoginReply,
  decodeResultSection,
  encodeCreateStream,
  encodeGetStream,
  encodeLoginRegister,
  NO_OPTIONS,
  PROTOCOL_VERSION,
  toIdentifier,
} from "@millrace/protocol";
import { connectHttp } from "./connect-http.ts";

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

const json = (status: number, body: unknown): Answer => {
  return (_, response) =>
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
};
const text =
  (status: number, body: string): Answer =>
  (_, response) =>
    response.writeHead(status).end(body);

const LOGIN = encodeLoginRegister({
  protocolVersion: PROTOCOL_VERSION,
  sdkName: "test",
  sdkVersion: "1",
  username: "ann",
  password: "secret",
  context: "",
});
const GET_STREAM = encodeGetStream({ stream: toIdentifier("s") });
const CREATE_STREAM = encodeCreateStream({ name: "s", options: NO_OPTIONS });

let server: Server | undefined;
let connection: Connection | undefined;

/** A server that answers `GET /ping`, and the rest as told; `seen` are method, path and token. */
async function connectTo(answers: Readonly<Record<string, Answer>>, messageLengthMax = 1_048_576) {
  const seen: string[] = [];
  server = createServer((request, response) => {
    const route = `${request.method} ${request.url}`;
    seen.push(`${route} ${request.headers.authorization ?? "-"}`);
    request.resume();
    (answers[route] ?? (route === "GET /ping" ? text(200, "pong") : text(404, "nothing here")))(
      request,
      response,
    );
  });
  await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const options = { host: "127.0.0.1", port, leases: new HeapLeases(), messageLengthMax, timeoutMs: 5000 };
  connection = await connectHttp(options);
  return { seen, connection };
}

/** The reply to one command: its code, the payload of a success, and the words of a refusal. */
async function ask(to: Connection, command: CommandName, body: Uint8Array = new Uint8Array(0)) {
  const header = new Uint8Array(HEADER_LENGTH);
  const operation = COMMAND_OPERATIONS[command];
  const length = HEADER_LENGTH + body.length;
  encodeRequestHeader(header, { length, client: 1n, operation, code: CommandCode[command] });
  const reply = await new Promise<Uint8Array>((resolve, reject) => {
    to.onMessage = ({ bytes }) => resolve(bytes);
    to.onClose = (error) => reject(error);
    to.send([header, body]);
  });
  const { status } = decodeReplyHeader(reply);
  const rest = reply.subarray(HEADER_LENGTH);
  return { status, rest, words: new TextDecoder().decode(rest) };
}

describe("The client half of HTTP", { timeout: 30_000 }, () => {
  afterEach(async () => {
    connection?.close();
    connection = undefined;
    server?.closeAllConnections();
    await new Promise((resolve) => server?.close(resolve));
  });

  it("logs in, sends its token, and logs in again when the token is good no longer", async () => {
    let logins = 0;
    const { seen, connection: to } = await connectTo({
      "POST /users/login": (request, response) => {
        logins += 1;
        json(200, { user_id: 7, access_token: { token: `t${logins}`, expiry: 1 } })(request, response);
      },
      "GET /streams/s": (request, response) =>
        request.headers.authorization === "Bearer t2"
          ? json(404, { id: 404, code: "not_found", reason: "Resource not found", field: null })(
              request,
              response,
            )
          : json(401, { id: 40, code: "unauthenticated", reason: "", field: null })(request, response),
    });
    const login = await ask(to, "LoginRegister", LOGIN);
    assert.equal(decodeLoginReply(decodeResultSection(login.rest).payload).userId, 7);
    const missing = await ask(to, "GetStream", GET_STREAM);
    assert.deepEqual([missing.status, missing.rest.length], [0, 0], "not there is no error");
    const again = ["POST /users/login -", "GET /streams/s Bearer t2"];
    assert.deepEqual(seen.slice(1), ["POST /users/login -", "GET /streams/s Bearer t1", ...again]);
  });

  it("answers codes of the table with the server's words, and other statuses with the code that suits", async () => {
    const cases: readonly (readonly [Answer, code: number, words: RegExp])[] = [
      [json(400, { id: 1012, code: "stream_name_already_exists", reason: "taken" }), 1012, /^taken$/],
      [json(503, { id: 58, code: "transient_not_accepted", reason: "busy" }), 58, /busy/],
      [
        json(503, { id: 57, code: "transient_not_committed", reason: "late" }),
        ErrorCode.OutcomeUnknown,
        /late/,
      ],
      [json(504, { id: 504, code: "produce_timeout", reason: "slow" }), ErrorCode.OutcomeUnknown, /slow/],
      [json(429, { id: 429, code: "too_many_in_flight_writes", reason: "" }), 58, /429/],
      [json(413, { id: 413, code: "payload_too_large", reason: "big" }), ErrorCode.FrameTooLarge, /big/],
      [text(422, "a shape"), ErrorCode.InvalidCommand, /HTTP 422: a shape/],
      [text(500, "oops"), ErrorCode.HttpResponseError, /HTTP 500: oops/],
      [text(200, "<html>"), ErrorCode.InvalidJsonResponse, /not JSON/],
      [json(200, { id: "seven" }), ErrorCode.InvalidJsonResponse, /id/],
      [json(200, []), ErrorCode.InvalidJsonResponse, /body/],
    ];
    let answer: Answer = text(500, "");
    const route: Answer = (request, response) => answer(request, response);
    const { connection: to } = await connectTo({ "POST /streams": route });
    for (const [given, code, words] of cases) {
      answer = given;
      const reply = await ask(to, "CreateStream", CREATE_STREAM);
      assert.equal(reply.status, code, reply.words);
      assert.match(reply.words, words);
    }
  });

  it("refuses what the API has no route for, and a message without a command", async () => {
    const { seen, connection: to } = await connectTo({});
    for (const command of ["GetMe", "JoinConsumerGroup", "VerifyPartition"] as const) {
      const reply = await ask(to, command);
      assert.equal(reply.status, ErrorCode.FeatureUnavailable);
      assert.match(reply.words, new RegExp(`${command}: connect with the transport tcp, ws or grpc`));
    }
    assert.equal((await ask(to, "GetStream", new Uint8Array(3))).status, ErrorCode.InvalidCommand);
    assert.equal((await ask(to, "GetStreams")).status, ErrorCode.ResourceNotFound, "a foreign 404");
    assert.deepEqual(seen, ["GET /ping -", "GET /streams -"]);
  });

  it("does not read an answer that is too long, and is lost with its server", async () => {
    const long: Answer = (_, response) => response.writeHead(200).end(Buffer.alloc(100_000, " "));
    const cut: Answer = (request) => request.socket.destroy();
    const { connection: to } = await connectTo({ "GET /streams": long, "GET /stats": cut }, 1024);
    assert.equal((await ask(to, "GetStreams")).status, ErrorCode.FrameTooLarge);
    assert.equal((await ask(to, "Ping")).status, 0);
    await assert.rejects(ask(to, "GetStats"), (error: unknown) =>
      isCodedError(error, ErrorCode.Disconnected),
    );
  });

  it("connects to servers of the API only, within the time it has", async () => {
    const refusal = async (ping: Answer, timeoutMs: number) => {
      server = createServer((request, response) => ping(request, response));
      await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
      const { port } = server.address() as AddressInfo;
      const to = { host: "127.0.0.1", port, leases: new HeapLeases(), messageLengthMax: 256, timeoutMs };
      const error = await connectHttp(to).then(
        () => assert.fail("connected"),
        (reason: CodedError) => reason,
      );
      server.closeAllConnections();
      await new Promise((resolve) => server?.close(resolve));
      return error;
    };
    const web = await refusal(text(200, "<html>"), 5000);
    assert.equal(web.code, ErrorCode.CannotEstablishConnection);
    assert.match(web.message, /answers HTTP 200 to GET \/ping/);
    assert.match((await refusal(() => {}, 50)).message, /no answer in 50 ms/);
    const options = { host: "127.0.0.1", port: 1, leases: new HeapLeases(), messageLengthMax: 256 };
    const signal = AbortSignal.abort();
    await assert.rejects(connectHttp({ ...options, timeoutMs: 5000, signal }), (error: unknown) =>
      isCodedError(error, ErrorCode.Aborted),
    );
  });
});
