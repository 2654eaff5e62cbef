import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { test } from "node:test";
import { HttpUnderTest, sendBody } from "../testing/http-under-test.ts";

const MESSAGES = "/streams/s/topics/t/messages";
const POLL = `${MESSAGES}?consumer_id=1&partition_id=0&kind=offset&value=0&count=100`;
const BEAT_MS = 50;
const MIB = 1024 * 1024;

/** A socket that asks again and again and takes no answer. */
function greedy(server: HttpUnderTest): Socket {
  const socket = connect(server.http.port, "127.0.0.1");
  socket.on("error", () => {});
  socket.pause();
  const request = `GET ${POLL} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.token}\r\n\r\n`;
  for (let count = 0; count < 20; count++) socket.write(request);
  return socket;
}

test("Long answers that nobody takes are bounded, others are served meanwhile, and their room comes back.", async () => {
  const server = await HttpUnderTest.start();
  await server.login();
  await server.makeTopic();
  for (let count = 0; count < 7; count++) {
    assert.equal((await server.call("POST", MESSAGES, { body: sendBody(["x".repeat(MIB)]) })).status, 201);
  }
  const before = process.memoryUsage().rss;
  const sockets = Array.from({ length: 6 }, () => greedy(server));
  const statuses = new Set<number>();
  // A machine that is busy makes requests slow; one that is kept waiting leaves the beats their time.
  let [beats, slowest] = [0, 0];
  const heart = setInterval(() => {
    beats += 1;
  }, BEAT_MS).unref();
  for (let count = 0; count < 200 && !statuses.has(503); count++) {
    const since = beats;
    statuses.add((await server.call("GET", POLL)).status);
    assert.equal(
      (await server.call("GET", `${POLL}&auto_commit=false`.replace("value=0", "value=7"))).status,
      200,
    );
    slowest = Math.max(slowest, (beats - since) * BEAT_MS);
  }
  clearInterval(heart);
  assert.ok(statuses.has(503), "there is a bound");
  assert.ok(process.memoryUsage().rss - before < 900 * MIB, "without it they would hold twice as much");
  assert.ok(slowest < 8_000, `nobody is kept waiting: ${slowest} ms`);
  await Promise.all(sockets.map((socket) => once(socket.resume().destroy(), "close")));
  let status = 503;
  for (let count = 0; count < 100 && status === 503; count++) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    status = (await server.call("GET", POLL)).status;
  }
  assert.equal(status, 200, "what waited behind another answer gives its room back too");
  await server.stop();
});

for (const [what, bytes, status] of [
  ["two ways of telling the length", "Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400],
  ["two lengths", "Content-Length: 6\r\nContent-Length: 7\r\n\r\n{}", 400],
  ["a head that is too long", `A: ${"a".repeat(20_000)}\r\n\r\n`, 431],
] as const) {
  test(`A request with ${what} is refused in the words of the API, and its connection ends.`, async () => {
    const server = await HttpUnderTest.start();
    const socket = connect(server.http.port, "127.0.0.1");
    let text = "";
    socket.on("data", (data) => {
      text += String(data);
    });
    socket.write(`POST /streams HTTP/1.1\r\nHost: x\r\n${bytes}`);
    await once(socket, "close");
    const [head = "", body = ""] = text.split("\r\n\r\n");
    assert.match(head, new RegExp(`^HTTP/1\\.1 ${status} `));
    assert.equal(JSON.parse(body).code, "invalid_http_request");
    await server.stop();
  });
}
