import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { type ClientHttp2Session, connect, constants } from "node:http2";
import { Agent, request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { connect as connectTls } from "node:tls";
import { ErrorCode, isCodedError } from "@millrace/errors";
import { makeTestAuthority, type TestAuthority } from "@millrace/testkit";
import { HttpUnderTest, sendBody } from "../testing/http-under-test.ts";

const MESSAGES = "/streams/s/topics/t/messages";

/** One request of HTTP/1.1 whose sender checks the certificate. */
function call(
  server: HttpUnderTest,
  options: { ca?: string; method?: string; path?: string; token?: string; body?: object; agent?: Agent },
): Promise<{ status: number; json: unknown; connection: string | undefined }> {
  const { ca, method = "GET", path = "/streams", token, body, agent } = options;
  const headers = {
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(body === undefined ? {} : { "content-type": "application/json" }),
  };
  const port = server.http.port;
  const target = { host: "127.0.0.1", port, method, path, headers, ca, agent };
  return new Promise((resolve, reject) => {
    const sent = request(target, async (response) => {
      const text = Buffer.concat(await response.toArray()).toString();
      const { statusCode = 0, headers: answered } = response;
      resolve({ status: statusCode, json: text && JSON.parse(text), connection: answered.connection });
    });
    sent.on("error", reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

async function loginOver(server: HttpUnderTest, ca: string, agent?: Agent): Promise<string> {
  const body = { username: "iggy", password: "iggy" };
  const options = { ca, method: "POST", path: "/users/login", body, ...(agent && { agent }) };
  const { status, json } = await call(server, options);
  assert.equal(status, 200);
  return (json as { access_token: { token: string } }).access_token.token;
}

describe("HTTP with TLS", () => {
  let authority: TestAuthority;
  let folder: string;
  let files: Record<string, string>;

  before(async () => {
    authority = await makeTestAuthority();
    folder = await mkdtemp(join(tmpdir(), "millrace-https-"));
    const { certificate, privateKey } = await authority.issue(["127.0.0.1"]);
    const [certFile, keyFile] = [join(folder, "node.pem"), join(folder, "node.key")];
    await Promise.all([writeFile(certFile, certificate), writeFile(keyFile, privateKey)]);
    files = {
      HTTP_TLS_ENABLED: "true",
      HTTP_TLS_CERT_FILE: certFile,
      HTTP_TLS_KEY_FILE: keyFile,
    };
  });
  after(() => rm(folder, { recursive: true }));

  test("shows the certificate of the configured files to a client that checks it.", async () => {
    const server = await HttpUnderTest.start(files);
    const ca = authority.certificate;
    const token = await loginOver(server, ca);
    const made = await call(server, { ca, method: "POST", token, body: { name: "s" } });
    assert.equal(made.status, 200);
    const stranger = await makeTestAuthority();
    for (const other of [stranger.certificate, undefined]) {
      const refused = call(server, { ...(other && { ca: other }), token });
      await assert.rejects(refused, /UNABLE_TO|self-signed|unable to|certificate signature failure/);
    }
    await assert.rejects(fetch(`http://127.0.0.1:${server.http.port}/ping`), "not in clear");
    await server.stop();
  });

  test("speaks HTTP/2 with clients that ask for it: sends, errors and bodies over the limit included.", async () => {
    const server = await HttpUnderTest.start({ ...files, HTTP_MAX_REQUEST_SIZE: "10 KB" });
    const ca = authority.certificate;
    const token = await loginOver(server, ca);
    await call(server, { ca, method: "POST", token, body: { name: "s" } });
    const topic = { name: "t", partitions_count: 1, compression_algorithm: "none", message_expiry: 0 };
    const path = "/streams/s/topics";
    await call(server, { ca, method: "POST", path, token, body: { ...topic, max_topic_size: 0 } });
    const session = connect(`https://127.0.0.1:${server.http.port}`, { ca });
    const post = (body: object) => exchange(session, { method: "POST", path: MESSAGES, token, body });
    assert.deepEqual(
      await Promise.all([post(sendBody(["a"])), post(sendBody(["b"]))]).then((both) =>
        both.map(({ status, json }) => [status, json.confirmations.length]),
      ),
      [
        [201, 1],
        [201, 1],
      ],
    );
    const wrong = await post({ partitioning: { kind: "balanced" } });
    assert.deepEqual([wrong.status, wrong.json.field], [422, "messages"]);
    const long = await post(sendBody(["x".repeat(9000)]));
    assert.deepEqual([long.status, long.json.code], [413, "payload_too_large"]);
    const polled = await exchange(session, { method: "GET", path: MESSAGES, token });
    assert.deepEqual([polled.status, polled.json.count], [200, 2]);
    session.close();
    await server.stop();
  });

  test("ends although clients keep their connections, in either version of HTTP.", async () => {
    const server = await HttpUnderTest.start(files);
    const agent = new Agent({ keepAlive: true });
    await loginOver(server, authority.certificate, agent);
    const session = connect(`https://127.0.0.1:${server.http.port}`, { ca: authority.certificate });
    assert.equal((await exchange(session, { method: "GET", path: "/health" })).status, 200);
    const begun = Date.now();
    await server.stop();
    assert.ok(Date.now() - begun < 4000, "nobody has to be cut off");
    agent.destroy();
    session.destroy();
  });

  test("makes a certificate for this machine's names when it is told so.", async () => {
    const server = await HttpUnderTest.start({ HTTP_TLS_ENABLED: "true", HTTP_TLS_SELF_SIGNED: "true" });
    const options = { host: "127.0.0.1", port: server.http.port, rejectUnauthorized: false };
    const socket = connectTls({ ...options, ALPNProtocols: ["h2", "http/1.1"] });
    await new Promise((resolve) => socket.once("secureConnect", resolve));
    assert.equal(socket.alpnProtocol, "h2");
    assert.match(socket.getPeerX509Certificate()?.subjectAltName ?? "", /DNS:localhost.*127\.0\.0\.1/);
    socket.destroy();
    await assert.rejects(call(server, { path: "/health" }), /self-signed/, "nobody trusts it unasked");
    await server.stop();
  });

  test("refuses files that are not there or no pair.", async () => {
    const missing = { ...files, HTTP_TLS_KEY_FILE: join(folder, "nowhere") };
    const swapped = { ...files, HTTP_TLS_KEY_FILE: files["HTTP_TLS_CERT_FILE"] ?? "" };
    const codes = [ErrorCode.InvalidTlsCertificatePath, ErrorCode.InvalidTlsCertificate];
    for (const [index, settings] of [missing, swapped].entries()) {
      await assert.rejects(HttpUnderTest.start(settings), (error) =>
        isCodedError(error, codes[index] as number),
      );
    }
  });
});

interface Http2Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape.
  readonly json: any;
}

function exchange(
  session: ClientHttp2Session,
  { method, path, token, body }: { method: string; path: string; token?: string; body?: object },
): Promise<Http2Answer> {
  return new Promise((resolve, reject) => {
    const stream = session.request({
      [constants.HTTP2_HEADER_METHOD]: method,
      [constants.HTTP2_HEADER_PATH]: path,
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    });
    let status = 0;
    let text = "";
    stream.on("response", (headers) => {
      status = Number(headers[constants.HTTP2_HEADER_STATUS]);
    });
    stream.setEncoding("utf8");
    stream.on("data", (part: string) => {
      text += part;
    });
    stream.on("end", () => resolve({ status, json: text === "" ? undefined : JSON.parse(text) }));
    stream.on("error", reject);
    session.once("error", reject);
    stream.end(body === undefined ? undefined : JSON.stringify(body));
  });
}
