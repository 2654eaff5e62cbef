import assert from "node:assert/strict";
import { type BlockPool, createChecksumKernel } from "@millrace/framing";
import type { Log, Metrics, Tracer } from "@millrace/platform";
import { createNodeCipher } from "@millrace/platform/node";
import { createSimPlatform, type SimClock, type SimDisk, type SimPlatform } from "@millrace/platform/sim";
import type { ClusterMetadata } from "@millrace/protocol";
import { createMemoryTransport, type MemoryTransport } from "@millrace/transports/memory";
import { type Broker, createBroker } from "../broker.ts";
import { BROKER_DEFAULTS, type BrokerConfig } from "../broker-config.ts";
import { LocalPartition } from "../partition-plane/local-partition.ts";
import type { PartitionGroup } from "../partition-plane/partition-group.ts";
import { shardOf } from "../routing/shard-hash.ts";
import type { CollectSnapshot } from "../start/snapshot-collector.ts";
import { TestClient } from "./test-client.ts";
import { startTestShards, type TestShards } from "./test-shards.ts";

const MIB = 1024 * 1024;

/** The whole suite also passes with 2 and with 4: `MILLRACE_TEST_SHARDS=4`. */
const SHARDS_COUNT = Number(process.env["MILLRACE_TEST_SHARDS"] ?? 1);

/** Simulated milliseconds after which a test has waited long enough. */
const DRIVE_MAX_MS = 60_000;

const ROSTER: ClusterMetadata = {
  name: "single-node",
  nodes: [
    {
      name: "iggy-node",
      ip: "127.0.0.1",
      tcpPort: 8090,
      quicPort: 0,
      httpPort: 0,
      websocketPort: 0,
      role: "leader",
      status: "healthy",
    },
  ],
};

/** What a test may choose. */
export interface TestServerOptions {
  readonly disk?: SimDisk;
  /** The clock a disk with latency was made with. */
  readonly clock?: SimClock;
  readonly config?: Partial<BrokerConfig>;
  readonly seed?: number;
  readonly poolLength?: number;
  readonly diskLatencyMaxMs?: number;
  readonly collectSnapshot?: CollectSnapshot;
  readonly tracer?: Tracer;
  readonly log?: Log;
  readonly metrics?: Metrics;
  /** Key of an encrypted data directory. */
  readonly key?: Uint8Array;
  /** Left out: what the environment says. */
  readonly shardsCount?: number;
}

/** A broker over a simulated platform, with a transport in memory. */
export class TestServer {
  readonly broker: Broker;
  readonly platform: SimPlatform;
  readonly #shards: TestShards;
  readonly #transport: MemoryTransport;

  private constructor(parts: {
    broker: Broker;
    platform: SimPlatform;
    shards: TestShards;
    transport: MemoryTransport;
  }) {
    this.broker = parts.broker;
    this.platform = parts.platform;
    this.#shards = parts.shards;
    this.#transport = parts.transport;
  }

  static async start(options: TestServerOptions = {}): Promise<TestServer> {
    const platform = createSimPlatform({
      seed: options.seed ?? 1,
      tracer: options.tracer,
      ...(options.disk === undefined ? {} : { disk: options.disk }),
      ...(options.clock === undefined ? {} : { clock: options.clock }),
      ...(options.log === undefined ? {} : { log: options.log }),
      ...(options.metrics === undefined ? {} : { metrics: options.metrics }),
      ...(options.diskLatencyMaxMs === undefined ? {} : { diskLatencyMaxMs: options.diskLatencyMaxMs }),
    });
    const shardsCount = options.shardsCount ?? SHARDS_COUNT;
    const kernel = createChecksumKernel({ memoryLength: shardsCount * (options.poolLength ?? 24 * MIB) });
    const config = { ...BROKER_DEFAULTS, tailCacheLengthMax: 4 * MIB, ...options.config };
    const cipher = options.key && createNodeCipher(options.key, platform.random);
    const shards = startTestShards(shardsCount, { platform, kernel, config, cipher });
    const [pool] = shards.pools;
    assert.ok(pool !== undefined);
    const starting = createBroker({
      platform,
      kernel,
      pool,
      config,
      ...(shards.bus === undefined ? {} : { bus: shards.bus }),
      roster: () => ROSTER,
      ...(options.collectSnapshot === undefined ? {} : { collectSnapshot: options.collectSnapshot }),
      cipher,
      rootUser: async () => ({ name: "iggy", passwordHash: await platform.passwords.hash("iggy") }),
    });
    const broker = await drive(platform, starting);
    const transport = createMemoryTransport({ leases: pool });
    transport.listen((connection) => broker.onConnection(connection));
    return new TestServer({ broker, platform, shards, transport });
  }

  /** Message memory of shard 0. */
  get pool(): BlockPool {
    return this.broker.shard.pool;
  }

  /** Lets time pass until `promise` settles; for brokers whose disk takes time. */
  drive<T>(promise: Promise<T>): Promise<T> {
    return drive(this.platform, promise);
  }

  connect(): TestClient {
    return new TestClient(this.#transport.connect());
  }

  /** The group of a partition, whichever shard owns it; `packed` as `packPartition` makes it. */
  groupOf(packed: number): PartitionGroup {
    const handle = this.broker.shard.partitions.get(packed);
    const owned = this.#shards.owners.map((owner) => owner.groupOf(handle.identity));
    const group = handle instanceof LocalPartition ? handle.group : owned.find((one) => one !== undefined);
    assert.ok(group !== undefined);
    return group;
  }

  /** Message memory of the shard that owns a partition. */
  poolOf(packed: number): BlockPool {
    const pool = this.#shards.pools[shardOf(packed, this.#shards.pools.length)];
    assert.ok(pool !== undefined);
    return pool;
  }

  /** A client that is logged in as root. */
  async login(client = 1n): Promise<TestClient> {
    const one = this.connect();
    await this.drive(one.login({ client }));
    return one;
  }

  /** Stops in order and sees that no message memory is held any more. */
  async stop(): Promise<SimDisk> {
    await this.drive(this.broker.stop({ drainMs: 1000 }));
    for (const { leasesOut } of this.#shards.pools)
      assert.equal(leasesOut, 0, "no lease is out after a stop");
    return this.platform.disk;
  }

  /** Ends the process at once; the disk the next one finds. */
  kill(): SimDisk {
    return this.platform.disk.kill();
  }
}

async function drive<T>(platform: SimPlatform, promise: Promise<T>): Promise<T> {
  let isSettled = false;
  const settle = () => {
    isSettled = true;
  };
  promise.then(settle, settle);
  for (let ms = 0; !isSettled; ms++) {
    assert.ok(ms < DRIVE_MAX_MS, "what a test waits for happens within a minute of simulated time");
    await platform.clock.run(1);
  }
  return promise;
}
