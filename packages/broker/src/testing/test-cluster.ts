import assert from "node:assert/strict";
import { BlockPool, createChecksumKernel, ReplicaCommand } from "@millrace/framing";
import type { Clock, Log, Metrics, PeerBus } from "@millrace/platform";
import { createNodeCipher } from "@millrace/platform/node";
import {
  type CrashKeep,
  createSimPeerBuses,
  createSimPlatform,
  type DiskCall,
  type DiskFault,
  type Packet,
  SimClock,
  SimDisk,
  SimRandom,
} from "@millrace/platform/sim";
import type { ClusterNode } from "@millrace/protocol";
import { createMemoryTransport, type MemoryTransport } from "@millrace/transports/memory";
import { CLUSTER_TIMING } from "@millrace/vsr";
import { type Broker, createBroker } from "../broker.ts";
import { BROKER_DEFAULTS, type BrokerConfig } from "../broker-config.ts";
import type { ClusterOptions } from "../cluster/cluster-options.ts";
import { LocalPartition } from "../partition-plane/local-partition.ts";
import type { PartitionGroup } from "../partition-plane/partition-group.ts";
import { TestClient } from "./test-client.ts";

const MIB = 1024 * 1024;
/** Hashes what nodes say to each other. */
const WIRE_HASH = createChecksumKernel({ memoryLength: MIB });
const CLUSTER = 77n;
/** Simulated milliseconds after which a test has waited long enough. */
const DRIVE_MAX_MS = 120_000;

interface Node {
  disk: SimDisk;
  broker: Broker | undefined;
  transport: MemoryTransport | undefined;
  pool: BlockPool | undefined;
  readonly gauges: Map<string, () => number>;
  starts: number;
  isDead: boolean;
  /** Its wall clock is ahead by so much. */
  clockSkewMicros: number;
  /** Its time passes so many times as fast as that of the cluster. */
  clockRate: number;
  /** Longest time a call to its disk takes; 0 for none. */
  diskLatencyMaxMs: number;
  /** The same for a datasync, where that is longer. */
  syncLatencyMaxMs: number;
}

/** What a test says of its cluster; everything else is as a server that was told nothing. */
export interface TestClusterOptions {
  readonly log?: Log;
  readonly config?: Partial<BrokerConfig>;
  /** Decides how long disks take and what they keep; default 0. */
  readonly seed?: number;
  /** A clock that is there already. */
  readonly clock?: SimClock;
  /** All nodes encrypt with it what they store. */
  readonly key?: Uint8Array | undefined;
  /** Sees every call to the disk of every node, with the node's number, and may let it fail. */
  readonly diskFaults?: (call: DiskCall, at: number) => DiskFault | undefined;
  /** Message memory of each node in bytes; default 16 MiB. */
  readonly poolLength?: number;
  /** Bytes of a block of it; default 64 KiB. A read takes one for each segment at least. */
  readonly blockLength?: number;
}

/** A node as clients are told of it: node 0 listens for TCP on port 1000, node 1 on 1001. */
function rosterEntry(replica: number): ClusterNode {
  const ports = { tcpPort: 1000 + replica, quicPort: 0, httpPort: 0, websocketPort: 0 };
  return { name: `n${replica}`, ip: "127.0.0.1", ...ports, role: "follower", status: "healthy" };
}

/** A question with a range of partitions, see docs/spec/replica-messages.md. */
function isStandingsQuestion({ bytes }: Packet): boolean {
  return bytes[60] === ReplicaCommand.standingsRequest && bytes[168] === 1;
}

/** Brokers of one cluster in one thread, on one simulated clock, each with a disk of its own. */
export class TestCluster {
  readonly clock: SimClock;
  readonly nodes: Node[];
  /** Frames for which this answers false are lost. */
  passes: (packet: Packet) => boolean = () => true;
  /** Questions where a node stands in partitions are lost. */
  losesStandings = false;
  /** Milliseconds after which a frame arrives; as often as this names a time. */
  delaysOf: (packet: Packet) => readonly number[] = () => [1];
  /** Milliseconds after which nodes that start from now on give up when they cannot write; 0 for never. */
  wedgedTimeoutMs = 0;
  /** Nodes that gave up, and why. */
  readonly wedged: { readonly at: number; readonly reason: unknown }[] = [];
  readonly #buses: readonly PeerBus[];
  readonly #log: Log | undefined;
  readonly #config: BrokerConfig;
  readonly #key: Uint8Array | undefined;
  readonly #poolLength: number;
  readonly #blockLength: number;
  readonly #diskFaults: TestClusterOptions["diskFaults"];
  readonly #seed: number;
  readonly #random: SimRandom;

  constructor(replicaCount: number, options: TestClusterOptions = {}) {
    this.clock = options.clock ?? new SimClock();
    this.#log = options.log;
    this.#config = { ...BROKER_DEFAULTS, tailCacheLengthMax: 2 * MIB, ...options.config };
    this.#key = options.key;
    this.#poolLength = options.poolLength ?? 16 * MIB;
    this.#blockLength = options.blockLength ?? 65_536;
    this.#diskFaults = options.diskFaults;
    this.#seed = options.seed ?? 0;
    this.#random = new SimRandom(this.#seed);
    this.nodes = Array.from({ length: replicaCount }, (_, at) => ({
      ...{ disk: this.#emptyDisk(at), broker: undefined, transport: undefined, pool: undefined },
      ...{
        gauges: new Map(),
        starts: 0,
        clockSkewMicros: 0,
        clockRate: 1,
        isDead: true,
        diskLatencyMaxMs: 0,
        syncLatencyMaxMs: 0,
      },
    }));
    this.#buses = createSimPeerBuses({
      ...{ replicaCount, cluster: CLUSTER, hash: WIRE_HASH },
      network: (packet, deliver) => {
        const isHeard = this.nodes[packet.to]?.isDead === false;
        if (!isHeard || !this.passes(packet) || (this.losesStandings && isStandingsQuestion(packet))) return;
        for (const delayMs of this.delaysOf(packet)) this.clock.setTimer(delayMs, deliver);
      },
    }).buses;
  }

  /** A cluster whose nodes have all started. */
  static async start(replicaCount = 3, options: TestClusterOptions = {}): Promise<TestCluster> {
    const cluster = new TestCluster(replicaCount, options);
    for (let at = 0; at < replicaCount; at += 1) await cluster.startNode(at);
    return cluster;
  }

  /** Starts a node and lets time pass until it serves. */
  startNode(at: number): Promise<void> {
    return this.drive(this.openNode(at));
  }

  /** Starts a node; for who lets time pass himself. */
  async openNode(at: number): Promise<void> {
    const node = this.#node(at);
    node.starts += 1;
    node.isDead = false;
    const log = this.#log?.child({ replica: at });
    const simPlatform = createSimPlatform({
      ...{ seed: 1000 * this.#seed + 100 * at + node.starts, clock: this.clock, disk: node.disk },
      ...(log === undefined ? {} : { log }),
    });
    node.gauges.clear();
    const gauge: Metrics["gauge"] = (name, _help, read) => node.gauges.set(name, read);
    const metrics = { ...simPlatform.metrics, gauge };
    const platform = { ...simPlatform, metrics, clock: this.#clockOf(node) };
    const kernel = createChecksumKernel({ memoryLength: this.#poolLength });
    const pool = new BlockPool(kernel.memory, { blockLength: this.#blockLength, checked: true });
    const bus = this.#busOf(at, node);
    const broker = await createBroker({
      ...{ platform, kernel, pool, config: this.#config },
      cipher: this.#key && createNodeCipher(this.#key, platform.random),
      cluster: { cluster: CLUSTER, bus, timing: CLUSTER_TIMING, ...this.#wedgedOf(at) },
      identity: { cluster: CLUSTER, replica: at, replicaCount: this.nodes.length },
      roster: () => ({ name: "test", nodes: this.nodes.map((_, replica) => rosterEntry(replica)) }),
      rootUser: async () => ({ name: "iggy", passwordHash: await platform.passwords.hash("iggy") }),
    });
    const transport = createMemoryTransport({ leases: pool });
    transport.listen((connection) => broker.onConnection(connection));
    Object.assign(node, { broker, transport, pool });
  }

  #wedgedOf(at: number): Pick<ClusterOptions, "wedged"> {
    const timeoutMs = this.wedgedTimeoutMs;
    return { wedged: { timeoutMs, onWedged: (reason) => this.wedged.push({ at, reason }) } };
  }

  /** Ends a node's process at once. */
  kill(at: number): void {
    const node = this.#node(at);
    this.#end(node, node.disk.kill());
  }

  /** Fails the power of a node. */
  crash(at: number, options: { readonly keep?: CrashKeep } = {}): void {
    const node = this.#node(at);
    this.#end(node, node.disk.crash(options));
  }

  /** Ends a node's process at once and empties its directory. */
  wipe(at: number): void {
    this.kill(at);
    this.#node(at).disk = this.#emptyDisk(at);
  }

  #end(node: Node, disk: SimDisk): void {
    Object.assign(node, { disk, isDead: true, broker: undefined });
  }

  /** Stops a node in order and sees that it holds no message memory any more. */
  async stopNode(at: number): Promise<void> {
    const node = this.#node(at);
    await this.drive(this.broker(at).stop({ drainMs: 1000 }));
    assert.equal(node.pool?.leasesOut, 0, "no lease is out after a stop");
    node.isDead = true;
    node.broker = undefined;
  }

  async stop(): Promise<void> {
    for (const [at, { broker }] of this.nodes.entries()) if (broker !== undefined) await this.stopNode(at);
  }

  broker(at: number): Broker {
    const { broker } = this.#node(at);
    assert.ok(broker !== undefined, `node ${at} runs`);
    return broker;
  }

  /** The living node that is primary of the metadata group, once there is one. */
  async metadataPrimary(): Promise<number> {
    return this.until(() => this.#living().find((at) => this.broker(at).shard.metadata.isPrimary));
  }

  /** The group of a partition on a node, once it is there. */
  group(at: number, packed: number): Promise<PartitionGroup> {
    return this.until(() => {
      const group = this.groupNow(at, packed);
      return group?.partition === undefined ? undefined : group;
    });
  }

  /** The group of a partition on a node, open or not; nothing when it is not there. */
  groupNow(at: number, packed: number): PartitionGroup | undefined {
    const handles = [...this.broker(at).shard.partitions.handles()];
    const handle = handles.find(({ identity }) => identity.partitionId === packed);
    return handle instanceof LocalPartition ? handle.group : undefined;
  }

  connect(at: number): TestClient {
    const { transport } = this.#node(at);
    assert.ok(transport !== undefined, `node ${at} runs`);
    return new TestClient(transport.connect());
  }

  /** A client that is logged in as root, on a node that knows the user already. */
  async login(at: number, client = 1n, sdkName = "test", context = ""): Promise<TestClient> {
    await this.until(() => this.broker(at).shard.catalog.userByName("iggy"));
    for (;;) {
      const one = this.connect(at);
      const answer = await this.drive(one.login({ client, sdkName, context }));
      if (answer.eviction === undefined && answer.code === 0) return one;
      assert.ok(answer.code === 57 || answer.code === 58, "a login is put off only while a view changes");
    }
  }

  /** Groups whose replica on a node is silent because it cannot write. */
  silentGroups(at: number): number {
    return Number(this.#node(at).gauges.get("replica_groups_silent")?.());
  }

  /** Lets time pass until `look` finds something. */
  async until<T>(look: () => T | undefined | false): Promise<T> {
    for (let ms = 0; ; ms += 1) {
      const found = look();
      if (found !== undefined && found !== false) return found;
      assert.ok(ms < DRIVE_MAX_MS, "what a test waits for happens within two minutes of simulated time");
      await this.clock.run(1);
    }
  }

  /** Lets time pass until `promise` settles. */
  async drive<T>(promise: Promise<T>): Promise<T> {
    let isSettled = false;
    const settle = () => {
      isSettled = true;
    };
    promise.then(settle, settle);
    const isInTime = await this.clock.runUntil(() => isSettled, DRIVE_MAX_MS);
    assert.ok(isInTime, "what a test drives settles within two minutes of simulated time");
    return promise;
  }

  #emptyDisk(at: number): SimDisk {
    // A disk asks what goes wrong with a call right before it asks when that call ends.
    let isSync = false;
    const schedule = (completion: () => void) => {
      const { diskLatencyMaxMs = 0, syncLatencyMaxMs = 0 } = this.nodes[at] ?? {};
      const latencyMaxMs = isSync ? Math.max(diskLatencyMaxMs, syncLatencyMaxMs) : diskLatencyMaxMs;
      if (latencyMaxMs === 0) queueMicrotask(completion);
      else this.clock.setTimer(this.#random.fraction() * latencyMaxMs, completion);
    };
    const faults = (call: DiskCall) => {
      isSync = call.kind === "datasync";
      return this.#diskFaults?.(call, at);
    };
    return new SimDisk({ seed: 10 * this.#seed + at + 1, schedule, faults });
  }

  /** The clock of one start of a node: for what was killed no time passes any more. */
  #clockOf(node: Node): Clock {
    const { clock } = this;
    const { starts } = node;
    const lives = () => node.starts === starts && !node.isDead;
    return {
      wallMicros: () => clock.wallMicros() + node.clockSkewMicros,
      monotonicMs: () => clock.monotonicMs() * node.clockRate,
      setTimer: (delayMs, callback) => clock.setTimer(delayMs / node.clockRate, () => lives() && callback()),
      afterEvent: (callback) => clock.afterEvent(() => lives() && callback()),
    };
  }

  /** The bus of one start of a node: what was killed says nothing any more. */
  #busOf(at: number, node: Node): PeerBus {
    const bus = this.#buses[at];
    assert.ok(bus !== undefined);
    const { starts } = node;
    const ofThisStart: PeerBus = {
      ...bus,
      send: (to, parts, onDone) => {
        if (node.starts === starts && !node.isDead) return bus.send(to, parts, onDone);
        onDone?.();
        return false;
      },
    };
    bus.onFrame = (from, frame, lease) => ofThisStart.onFrame(from, frame, lease);
    return ofThisStart;
  }

  #living(): number[] {
    return this.nodes.flatMap(({ broker }, at) => (broker === undefined ? [] : [at]));
  }

  #node(at: number): Node {
    const node = this.nodes[at];
    assert.ok(node !== undefined);
    return node;
  }
}
