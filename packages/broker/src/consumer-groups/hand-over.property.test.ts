import assert from "node:assert/strict";
import { test } from "node:test";
import { SimRandom } from "@millrace/platform/sim";
import type { TestClient } from "../testing/test-client.ts";
import { commit, createGroup, join, pollable, pollGroup, sendTo } from "../testing/test-groups.ts";
import { TestServer } from "../testing/test-server.ts";

const PARTITIONS = 6;
const MESSAGES = 30;
const SEEDS = 6;

/** Simulated milliseconds after which everything has long been read: far below the hand-over's time-out. */
const TIME_MAX_MS = 20_000;

/** One scene: members join at odd moments, poll, take their time, commit, and never leave. */
class Scene {
  readonly #server: TestServer;
  readonly #random: SimRandom;
  /** How often each message was handed out, by `partition:offset`. */
  readonly seen = new Map<string, number>();
  readonly readers = new Map<number, Set<bigint>>();

  constructor(server: TestServer, seed: number) {
    this.#server = server;
    this.#random = new SimRandom(seed);
  }

  get isDone(): boolean {
    return this.seen.size === PARTITIONS * MESSAGES;
  }

  /** Joins after a while, then works until every message was handed out to somebody. */
  async member(client: TestClient, joinsWithinMs: number): Promise<void> {
    await this.#pause(joinsWithinMs);
    await join(client);
    const { clock } = this.#server.platform;
    for (const startMs = clock.monotonicMs(); !this.isDone; ) {
      assert.ok(clock.monotonicMs() - startMs < TIME_MAX_MS, "a group gets through its messages");
      const own = await pollable(client);
      const partitionId = own[this.#below(own.length)];
      if (partitionId !== undefined) await this.#readSome(client, partitionId);
      await this.#pause(5);
    }
  }

  async #readSome(client: TestClient, partitionId: number): Promise<void> {
    const { messages } = await pollGroup(client, partitionId, { count: 1 + this.#below(5) });
    for (const { offset } of messages) {
      const key = `${partitionId}:${offset}`;
      this.seen.set(key, (this.seen.get(key) ?? 0) + 1);
    }
    const last = messages.at(-1);
    if (last === undefined) return;
    const readers = this.readers.get(partitionId) ?? new Set<bigint>();
    this.readers.set(partitionId, readers.add(client.client));
    await this.#pause(60);
    assert.equal(await commit(client, partitionId, last.offset), 0, "who was given messages may commit them");
  }

  #below(limit: number): number {
    return Math.floor(this.#random.fraction() * limit);
  }

  #pause(maxMs: number): Promise<void> {
    const delayMs = this.#below(maxMs);
    return new Promise((resolve) => void this.#server.platform.clock.setTimer(delayMs, resolve));
  }
}

test("While members only join, no message is handed out twice and none is missed, whatever the timing.", async () => {
  let movedCount = 0;
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const server = await TestServer.start({ seed, diskLatencyMaxMs: 4, config: { tailCacheLengthMax: 0 } });
    const clients: TestClient[] = [];
    for (const id of [1n, 2n, 3n, 4n]) clients.push(await server.login(id));
    const scene = new Scene(server, seed);
    const play = async () => {
      const [first] = clients;
      assert.ok(first !== undefined);
      await createGroup(first, PARTITIONS);
      for (let partitionId = 0; partitionId < PARTITIONS; partitionId += 1) {
        await sendTo(first, partitionId, MESSAGES);
      }
      await Promise.all(clients.map((client, index) => scene.member(client, index === 0 ? 1 : 400)));
    };
    await server.drive(play());
    assert.deepEqual(
      [...scene.seen].filter(([, count]) => count > 1),
      [],
      `seed ${seed}`,
    );
    movedCount += [...scene.readers.values()].filter((readers) => readers.size > 1).length;
    await server.stop();
  }
  assert.ok(movedCount >= SEEDS, "partitions moved while they were read");
});
