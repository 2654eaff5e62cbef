import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { COMMANDS } from "@millrace/protocol";
import { SeededRandom, scenarioSize } from "@millrace/testkit";
import { HostileSession, validBody } from "../testing/hostile-session.ts";
import { restore } from "../testing/rights-fixture.ts";
import { TestServer } from "../testing/test-server.ts";

const BODIES = scenarioSize({ push: 20_000, whole: 1_000_000 });
const SEED = 0xe01;
const LENGTH_MAX = 200;
const CLEAN_UP_EVERY = 5000;
/** What may be held more at the end than after the first tenth: room for caches to fill, not for a leak. */
const GROWTH_MAX = 24 * 1024 * 1024;

test("E-01: Random bodies from one seed under every command harm nobody, and memory stays flat.", async () => {
  const server = await TestServer.start();
  const bystander = await server.login(1n);
  await restore(bystander);
  const session = await HostileSession.open(server);
  const random = new SeededRandom(SEED);
  let afterFirstTenth = 0;
  for (let count = 1; count <= BODIES; count += 1) {
    const { name } = random.pick(COMMANDS);
    await session.send(name, hostileBody(random, validBody(name)));
    if (count % CLEAN_UP_EVERY === 0) {
      await session.cleanUp();
      await bystander.ok("Ping");
    }
    if (count === BODIES / 10) afterFirstTenth = heldBytes();
  }
  await session.cleanUp();
  const growth = heldBytes() - afterFirstTenth;
  assert.ok(growth < GROWTH_MAX, `${growth} bytes more after ${BODIES} bodies`);
  await bystander.ok("GetStreams");
  await server.stop();
});

/** Half of them noise, half of them good bodies with a few bytes changed, cut or added. */
function hostileBody(random: SeededRandom, good: Uint8Array): Uint8Array {
  if (good.length === 0 || random.below(2) === 0) return random.bytes(random.below(LENGTH_MAX));
  const cut = random.below(4) === 0 ? random.below(good.length) : good.length;
  const added = random.bytes(random.below(4) === 0 ? random.below(20) : 0);
  const body = new Uint8Array([...good.subarray(0, cut), ...added]);
  for (let changes = random.below(4); changes > 0 && body.length > 0; changes -= 1) {
    body[random.below(body.length)] = random.below(256);
  }
  return body;
}

function heldBytes(): number {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
