import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { SeededRandom } from "@millrace/testkit";
import { base64, HttpUnderTest, sendBody } from "../testing/http-under-test.ts";

const MESSAGES = "/streams/s/topics/t/messages";

test("A body over the limit is 413 and closes the connection; the largest that fits goes through.", async () => {
  const server = await HttpUnderTest.start({ HTTP_MAX_REQUEST_SIZE: "10 KB" });
  await server.login();
  await server.makeTopic();
  const bodyOf = (length: number) => {
    const body = JSON.stringify(sendBody(["x"]));
    return body + " ".repeat(length - body.length);
  };
  const over = await server.call("POST", MESSAGES, { body: bodyOf(10_001) });
  assert.deepEqual([over.status, over.json.id, over.json.code], [413, 413, "payload_too_large"]);
  assert.equal(over.headers.get("connection"), "close");
  assert.equal((await server.call("POST", MESSAGES, { body: bodyOf(10_000) })).status, 201);
  await server.stop();
});

test("A client that goes on sending a body over the limit is heard to its end and gets the answer.", async () => {
  const server = await HttpUnderTest.start({ HTTP_MAX_REQUEST_SIZE: "10 KB" });
  await server.login();
  await server.makeTopic();
  const { port } = new URL(server.url);
  const length = 3_000_000;
  const socket = connect({ port: Number(port), host: "127.0.0.1" });
  const received: Buffer[] = [];
  socket.on("data", (bytes) => received.push(bytes));
  const ended = once(socket, "close");
  const head = [`POST ${MESSAGES} HTTP/1.1`, "host: x", `content-length: ${length}`];
  const headers = [...head, "content-type: application/json", `authorization: Bearer ${server.token}`];
  socket.write(`${headers.join("\r\n")}\r\n\r\n`);
  for (let sent = 0; sent < length; sent += 500_000) {
    assert.equal(socket.destroyed, false, `the server still reads after ${sent} bytes`);
    socket.write(Buffer.alloc(500_000, " "));
    await sleep(20);
  }
  await ended;
  assert.equal(socket.errored, null, "nothing was lost on the way");
  assert.match(
    Buffer.concat(received).toString(),
    /^HTTP\/1\.1 413 [\s\S]*connection: close[\s\S]*payload_too_large/,
  );
  await server.stop();
});

test("What is no JSON is 400, another content type 415, and no route sees either.", async () => {
  const server = await HttpUnderTest.start();
  await server.login();
  for (const body of ['{"name":', "nope", '{"name":"a",}', '{"n":01}', "\u0000"]) {
    const answer = await server.call("POST", "/streams", { body });
    assert.deepEqual([answer.status, answer.json.id, answer.json.field], [400, 3, "body"], body);
  }
  const empty = await server.call("POST", "/streams", { body: "" });
  assert.deepEqual([empty.status, empty.json.field], [422, "body"]);
  for (const type of ["text/plain", "application/xml", "application/octet-stream"]) {
    const answer = await server.call("POST", "/streams", {
      body: '{"name":"a"}',
      headers: { "content-type": type },
    });
    assert.deepEqual([answer.status, answer.json.id, answer.json.code], [415, 415, "unsupported_media_type"]);
  }
  const charset = { "content-type": "application/json; charset=utf-8" };
  assert.equal(
    (await server.call("POST", "/streams", { body: '{"name":"a"}', headers: charset })).status,
    200,
  );
  const names = JSON.stringify({ __proto__: null, name: "b", constructor: { prototype: {} } });
  assert.equal((await server.call("POST", "/streams", { body: names })).status, 200);
  assert.equal((await server.call("GET", "/streams")).json.length, 2);
  await server.stop();
});

test("Paths that are no text are 400, and bytes that are no HTTP end their own connection only.", async () => {
  const server = await HttpUnderTest.start();
  await server.login();
  const path = await server.call("GET", "/streams/%ff%fe");
  assert.deepEqual([path.status, path.json.field], [400, "path"]);
  const socket = connect(server.http.port, "127.0.0.1");
  const closed = new Promise<string>((resolve) => {
    let text = "";
    socket.on("data", (bytes) => {
      text += String(bytes);
    });
    socket.on("close", () => resolve(text));
  });
  socket.write("\u0000\u0001\u0002 nonsense\r\n\r\n");
  assert.match(await closed, /^HTTP\/1\.1 400/);
  assert.equal((await server.call("GET", "/streams")).status, 200);
  await server.stop();
});

test("A client that goes away in the middle of a body, or before its answer, harms nobody.", async () => {
  const server = await HttpUnderTest.start();
  await server.login();
  await server.makeTopic();
  const body = JSON.stringify(sendBody([`x${"y".repeat(100)}`]));
  const head = `POST ${MESSAGES} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${server.token}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
  for (const sent of [head + body.slice(0, 20), head + body]) {
    const socket = connect(server.http.port, "127.0.0.1");
    await new Promise<void>((resolve) => socket.write(sent, () => resolve()));
    socket.destroy();
  }
  await new Promise((resolve) => setTimeout(resolve, 100));
  assert.equal((await server.call("POST", MESSAGES, { body: sendBody(["good"]) })).status, 201);
  await server.stop();
});

test("Random JSON on every route never makes a mistake of the server's own.", async () => {
  const server = await HttpUnderTest.start();
  await server.login();
  await server.makeTopic();
  const random = new SeededRandom(7);
  const routes = [
    ["POST", "/streams"],
    ["POST", "/streams/s/topics"],
    ["PUT", "/streams/s/topics/t"],
    ["POST", MESSAGES],
    ["PUT", "/streams/s/topics/t/consumer-offsets"],
    ["POST", "/streams/s/topics/t/partitions"],
    ["POST", "/users"],
    ["PUT", "/users/1/permissions"],
    ["POST", "/snapshot"],
    ["POST", "/users/login"],
    ["POST", "/users/refresh-token"],
  ] as const;
  const names = [
    "name",
    "options",
    "messages",
    "partitioning",
    "kind",
    "value",
    "payload",
    "id",
    "user_headers",
    "key",
    "offset",
    "consumer_id",
    "token",
    "username",
    "password",
    "permissions",
    "global",
    "streams",
    "partitions_count",
    "toString",
    "__proto__",
  ];
  const anything = (depth: number): unknown => {
    const scalars = [
      null,
      true,
      0,
      -1,
      1.5,
      2 ** 53,
      "",
      "a",
      base64("abc"),
      "balanced",
      "partition_id",
      "AQAAAA==",
      "\ud800",
      "🙂".repeat(70),
    ];
    if (depth === 0 || random.below(3) === 0) return random.pick(scalars);
    if (random.below(3) === 0) return Array.from({ length: random.below(3) }, () => anything(depth - 1));
    return Object.fromEntries(
      Array.from({ length: random.below(6) }, () => [random.pick(names), anything(depth - 1)]),
    );
  };
  for (let round = 0; round < 400; round++) {
    const [method, path] = random.pick(routes);
    const answer = await server.call(method, path, { body: JSON.stringify(anything(4)) });
    assert.ok(answer.status < 500, `${method} ${path}: ${answer.text}`);
  }
  assert.equal((await server.call("GET", "/streams")).status, 200);
  await server.stop();
});
