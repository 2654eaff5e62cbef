import assert from "node:assert/strict";
import type { MillraceClient } from "@millrace/client";
import { COMMANDS, isLegacyLogin, Operation } from "@millrace/protocol";
import { SeededRandom, scenarioSize } from "@millrace/testkit";
import { HostileSocket } from "./hostile-socket.ts";
import { pause, type Scene, scenario } from "./scene.ts";

const FRAMES = scenarioSize({ push: 20_000, whole: 1_000_000 });
/** What does not end a connection at once, with and without a login; the rest comes once in a while. */
const WITH_LOGIN = COMMANDS.filter(({ code }) => !isLegacyLogin(code));
const WITHOUT_LOGIN = WITH_LOGIN.filter(({ operation }) => operation === Operation.NonReplicated);
const ENDING_SHARE = 0.002;
const SEED = 0xe01;
const SOCKETS = 4;
const UNDER_WAY = 100;
const LENGTH_MAX = 300;
/**
 * What the process may hold however many frames came: its pool, a heap that would end it when it leaked, 16
 * threads that each keep the 16 MiB of their last password check, and itself.
 */
const POOL_MIB = 128;
const HEAP_MIB = 64;
const MEMORY_MAX = (POOL_MIB + HEAP_MIB + 16 * 16 + 128) * 1024 * 1024;
const SETTINGS = {
  MILLRACE_MEMORY_POOL_SIZE: `${POOL_MIB} MiB`,
  NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB}`,
};

scenario(
  "E-01: random bodies on real sockets close at most their own; others are served and memory is flat.",
  SETTINGS,
  async (scene) => {
    const place = await scene.createTopic(1);
    const bystander = await scene.connect();
    await bystander.sendMessages({ ...place, messages: [{ payload: "mine" }] });
    const watch = { isOver: false };
    const watched = serveMeanwhile(bystander, watch);
    watched.catch(() => {});
    await hostility(scene);
    watch.isOver = true;
    assert.ok((await watched) > 0, "the bystander was served meanwhile");
    const { memoryUsage } = await bystander.getStats();
    assert.ok(memoryUsage < MEMORY_MAX, `${memoryUsage} bytes after ${FRAMES} frames`);
    const { messages } = await bystander.pollMessages({ ...place, consumer: 1, startAt: "first" });
    assert.equal(messages[0]?.text(), "mine");
  },
);

/** Sends random frames, half of them on sockets that never log in. */
async function hostility(scene: Scene): Promise<void> {
  const port = Number(scene.server.address.split(":").at(-1));
  const sockets = Array.from({ length: SOCKETS }, async (_, index) => {
    const random = new SeededRandom(SEED + index);
    const logsIn = index % 2 === 0;
    let socket: HostileSocket | undefined;
    for (let sent = 0; sent < FRAMES / SOCKETS; sent += UNDER_WAY) {
      if (socket?.isOpen !== true) {
        socket = await HostileSocket.open(port, BigInt(1 + random.below(1_000_000_000)), logsIn);
      }
      for (let frame = 0; frame < UNDER_WAY; frame += 1)
        writeRandom(socket, random, logsIn ? WITH_LOGIN : WITHOUT_LOGIN);
      await socket.answered(UNDER_WAY);
    }
    socket?.close();
  });
  await Promise.all(sockets);
}

function writeRandom(socket: HostileSocket, random: SeededRandom, usual: typeof COMMANDS): void {
  const { code, operation } = random.pick(random.fraction() < ENDING_SHARE ? COMMANDS : usual);
  socket.write(operation, code, random.bytes(random.below(LENGTH_MAX)));
}

/** Pings until it is over, on one connection; how often. */
async function serveMeanwhile(client: MillraceClient, watch: { isOver: boolean }): Promise<number> {
  let count = 0;
  while (!watch.isOver) {
    await client.ping();
    count += 1;
    await pause(50);
  }
  return count;
}
