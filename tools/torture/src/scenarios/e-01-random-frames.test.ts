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
const SOCKETS = 4;
const UNDER_WAY = 100;
const LENGTH_MAX = 300;
/** What the process may hold more at the end than after the first fifth; messages kept would be far more. */
const GROWTH_MAX = 64 * 1024 * 1024;

scenario(
  "E-01: random bodies on real sockets close at most their own; others are served and memory is flat.",
  {},
  async (scene) => {
    const place = await scene.createTopic(1);
    const bystander = await scene.connect();
    await bystander.sendMessages({ ...place, messages: [{ payload: "mine" }] });
    const watch = { isOver: false };
    const watched = serveMeanwhile(bystander, watch);
    watched.catch(() => {});
    await hostility(scene, FRAMES / 5, 1);
    const before = (await bystander.getStats()).memoryUsage;
    await hostility(scene, FRAMES, 2);
    watch.isOver = true;
    assert.ok((await watched) > 0, "the bystander was served meanwhile");
    const growth = Number((await bystander.getStats()).memoryUsage - before);
    assert.ok(growth < GROWTH_MAX, `${growth} bytes more after ${FRAMES} frames`);
    const { messages } = await bystander.pollMessages({ ...place, consumer: 1, startAt: "first" });
    assert.equal(messages[0]?.text(), "mine");
  },
);

/** Sends `count` random frames, half of them on sockets that never log in. */
async function hostility(scene: Scene, count: number, seed: number): Promise<void> {
  const port = Number(scene.server.address.split(":").at(-1));
  const sockets = Array.from({ length: SOCKETS }, async (_, index) => {
    const random = new SeededRandom(seed * 1000 + index);
    const logsIn = index % 2 === 0;
    let socket: HostileSocket | undefined;
    for (let sent = 0; sent < count / SOCKETS; sent += UNDER_WAY) {
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
