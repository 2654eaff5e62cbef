import assert from "node:assert/strict";
import { once } from "node:events";
import net, { type Socket } from "node:net";
import { test } from "node:test";
import { BlockPool, type ChecksumKernel } from "@millrace/framing";
import { silentLog } from "@millrace/platform";
import { createSimPlatform } from "@millrace/platform/sim";
import { listenHttp } from "../http/server/index.ts";
import { memoryOf, until } from "../transport-setting.compliance.ts";

/** Scenario E-04. */
const HANGING = 500;
const HALF_HEADER = "GET /streams HTTP/1.1\r\nHost: x\r\nAuthoriz";
const JWT = {
  algorithm: "HS256",
  issuer: "me",
  audience: "me",
  validIssuers: ["me"],
  validAudiences: ["me"],
  expirySeconds: 60,
  clockSkewSeconds: 0,
  notBeforeSeconds: 0,
  trustedIssuers: [],
} as const;

test("500 connections with half an HTTP header, or nothing, leave others served and are closed", async () => {
  const { clock, random, metrics } = createSimPlatform({ seed: 3 });
  const memory = memoryOf(4 * 1_048_576);
  const listener = await listenHttp({
    host: "127.0.0.1",
    port: 0,
    onConnection: () => assert.fail("nobody logged in"),
    kernel: { memory } as ChecksumKernel,
    leases: new BlockPool(memory),
    clock,
    random,
    metrics,
    log: silentLog,
    jwt: JWT,
    socketsMax: 2 * HANGING,
    sessionsMax: 10,
    bodyLengthMax: 1024,
    headersMaxMs: 1500,
    view: () => 0,
    durabilityOf: () => "persisted",
    optionChecks: { createTopic() {}, updateTopic() {}, none() {} },
    version: "1",
  });
  const sockets: Socket[] = [];
  while (sockets.length < HANGING) {
    const socket = net.connect(listener.port, "127.0.0.1");
    socket.on("error", () => {});
    socket.resume();
    await once(socket, "connect");
    if (sockets.length % 2 === 0) socket.write(HALF_HEADER);
    sockets.push(socket);
  }
  const answer = await fetch(`http://${listener.address}/health`);
  assert.equal(answer.status, 200);
  await answer.text();
  await until(() => sockets.every(({ closed }) => closed));
  await listener.close();
});
