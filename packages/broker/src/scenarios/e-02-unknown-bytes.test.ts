import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode } from "@millrace/errors";
import { EvictionReason, OPERATIONS, operationByByte } from "@millrace/protocol";
import { restore } from "../testing/rights-fixture.ts";
import type { Answer, TestClient } from "../testing/test-client.ts";
import { TestServer } from "../testing/test-server.ts";

const BYTES = Array.from({ length: 256 }, (_, byte) => byte);
const REQUEST = 5;
/** What a replica, or the server for itself, would put behind such a byte may be of any of these shapes. */
const BODIES = [new Uint8Array(0), new Uint8Array(8), new Uint8Array(256).fill(1)];
const isClients = (operation: number) => operationByByte(operation)?.requested === true;

interface Scene {
  readonly server: TestServer;
  readonly bystander: TestClient;
  /** Highest op of the catalog's log: it moves when anything was taken for an op. */
  readonly commit: () => number;
}

async function opened(): Promise<Scene> {
  const server = await TestServer.start();
  const bystander = await server.login(1n);
  await restore(bystander);
  return { server, bystander, commit: () => server.broker.shard.metadata.commit };
}

async function closed({ server, bystander }: Scene): Promise<void> {
  await bystander.ok("GetStreams");
  await server.stop();
}

test("E-02: The protocol has 256 operations, of which exactly those of clients are taken from one.", () => {
  const internal = OPERATIONS.filter(({ requested }) => !requested).map(({ byte }) => byte);
  assert.deepEqual(internal, [64, 65, 66, 67, 68]);
  assert.equal(BYTES.filter(isClients).length, OPERATIONS.length - internal.length);
});

test("E-02: With every command byte but that of a request every operation is refused with 3, before and after login.", async () => {
  const scene = await opened();
  const { server, commit } = scene;
  for (const client of [server.connect(), await server.login(2n)]) {
    if (client.session === 0n) client.client = 3n;
    const before = commit();
    for (const command of BYTES.filter((byte) => byte !== REQUEST)) {
      for (const operation of BYTES) {
        const { code, eviction } = await client.exchange(client.frame(operation, BODIES[1], { command }));
        assert.equal(eviction, undefined);
        assert.equal(code, ErrorCode.InvalidCommand, `command ${command}, operation ${operation}`);
      }
    }
    assert.equal(commit(), before, "nothing was taken for an op");
    await client.ok("Ping");
  }
  await closed(scene);
});

test("E-02: Every operation byte that is no client's is refused with 3 and acts as nothing, before and after login.", async () => {
  const scene = await opened();
  const { server, commit } = scene;
  for (const client of [server.connect(), await server.login(2n)]) {
    if (client.session === 0n) client.client = 3n;
    const before = commit();
    for (const operation of BYTES.filter((byte) => !isClients(byte))) {
      for (const body of BODIES) {
        const { code } = await client.exchange(client.frame(operation, body));
        assert.equal(code, ErrorCode.InvalidCommand, `operation ${operation}`);
      }
    }
    assert.equal(commit(), before);
    await client.ok("Ping");
  }
  await closed(scene);
});

test("E-02: Before login an operation of a client's is answered by a code or ends its own connection.", async () => {
  const scene = await opened();
  const { server, commit } = scene;
  const before = commit();
  for (const operation of BYTES.filter(isClients)) {
    const client = server.connect();
    client.client = 3n;
    const answer = await client.exchange(client.frame(operation));
    assert.ok(
      isRefusalOf(operation, answer),
      `operation ${operation}: ${answer.code} ${answer.eviction?.reason}`,
    );
    client.close();
  }
  assert.equal(commit(), before, "a stranger makes no op");
  await closed(scene);
});

/** What a stranger hears: see wire-protocol sections 2.2 and 5.2. */
function isRefusalOf(operation: number, { code, eviction }: Answer): boolean {
  const name = operationByByte(operation)?.name;
  if (name === "Register") return code === ErrorCode.InvalidCommand;
  if (name === "NonReplicated") return code === ErrorCode.Unauthenticated;
  if (name === "Logout") return code === 0 && eviction === undefined;
  return eviction?.reason === EvictionReason.NoSession;
}
