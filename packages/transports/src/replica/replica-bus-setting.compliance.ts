import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import {
  BlockPool,
  createChecksumKernel,
  ReplicaCommand,
  type ReplicaFrame,
  sealReplicaFrame,
} from "@millrace/framing";
import type { Log, LogFacts, Metrics } from "@millrace/platform";
import { createNodeClock, nodeRandom } from "@millrace/platform/node";
import { memoryOf } from "../transport-setting.compliance.ts";
import { ReplicaBus } from "./replica-bus.ts";
import type { ReplicaBusOptions } from "./replica-bus-options.ts";

const MIB = 1_048_576;

/** Longest frame of the buses under test. */
export const FRAME_LENGTH_MAX = 2 * MIB;
/** The cluster they belong to unless told otherwise. */
export const CLUSTER = 77n;

const kernel = createChecksumKernel({ memoryLength: 2 * MIB });

/** Makes and checks seals. */
export const hash = { hashBytes: (bytes: Uint8Array) => kernel.hashBytes(bytes) };

/** One bus under test, with everything it said. */
export interface BusUnderTest {
  readonly bus: ReplicaBus;
  readonly pool: BlockPool;
  /** Lines of its log, each `message reason`. */
  readonly lines: readonly string[];
  /** What it received: `from:view`, or `from:view+length` with a payload. */
  readonly heard: readonly string[];
  /** `up 1`, `down 1`, in order. */
  readonly turns: readonly string[];
  /** A counter's value, by name and labels: `replica_frames_dropped_total{full}`. */
  count(name: string): number;
  send(to: number, changes?: Partial<ReplicaFrame>): boolean;
}

/** A cluster whose buses find each other by the ports they were given. */
export class ClusterUnderTest {
  readonly #ports = new Map<number, number>();
  readonly #running: BusUnderTest[] = [];
  readonly #others: (() => void)[] = [];

  /** Something else to end with the cluster, also when the test fails. */
  onStop(end: () => void): void {
    this.#others.push(end);
  }

  /** A bus that listens; `port` is where others are to dial it, when that is not its own port. */
  async start(
    replica: number,
    options: Partial<ReplicaBusOptions> = {},
    port?: (own: number) => Promise<number> | number,
  ): Promise<BusUnderTest> {
    const under = this.make(replica, options);
    await under.bus.listen();
    this.#ports.set(replica, (await port?.(under.bus.port)) ?? under.bus.port);
    return under;
  }

  /** A bus that does not listen yet. */
  make(replica: number, options: Partial<ReplicaBusOptions> = {}): BusUnderTest {
    const under = underTest(replica, (id) => this.#ports.get(id) ?? 1, options);
    this.#running.push(under);
    return under;
  }

  /** Ends every bus; none may hold memory of messages then. */
  async stop(): Promise<void> {
    for (const end of this.#others) end();
    await Promise.all(this.#running.map(({ bus }) => bus.close()));
    for (const { bus, pool } of this.#running) {
      await until(() => pool.leasesOut === 0, `replica ${bus.replica} holds ${pool.leasesOut} leases`);
    }
  }
}

/** Runs `body` with a cluster and ends it. */
export async function withCluster(body: (cluster: ClusterUnderTest) => Promise<void>): Promise<void> {
  const cluster = new ClusterUnderTest();
  try {
    await body(cluster);
  } finally {
    await cluster.stop();
  }
}

/** Waits for a fact. */
export async function until(isSo: () => boolean, what: string): Promise<void> {
  const endMs = performance.now() + 10_000;
  while (!isSo()) {
    assert.ok(performance.now() < endMs, `in vain: ${what}`);
    await sleep(5);
  }
}

/** A sealed frame as a replica of the cluster sends it; `view` tells one from another. */
export function frameOf(replica: number, changes: Partial<ReplicaFrame> = {}): readonly Uint8Array[] {
  const nothing = new Uint8Array(0);
  return sealReplicaFrame(hash, {
    command: ReplicaCommand.commit,
    cluster: CLUSTER,
    view: 0,
    replica,
    fields: nothing,
    payload: nothing,
    ...changes,
  });
}

function underTest(
  replica: number,
  portOf: (replica: number) => number,
  options: Partial<ReplicaBusOptions>,
): BusUnderTest {
  const pool = new BlockPool(memoryOf(8 * MIB), { checked: true });
  const lines: string[] = [];
  const counts = new Map<string, number>();
  const bus = new ReplicaBus({
    replica,
    replicaCount: 3,
    cluster: CLUSTER,
    listen: { host: "127.0.0.1", port: 0 },
    addressOf: (peer) => ({ host: "127.0.0.1", port: portOf(peer) }),
    hash,
    leases: pool,
    frameLengthMax: FRAME_LENGTH_MAX,
    clock: createNodeClock(),
    random: nodeRandom,
    log: logInto(lines),
    metrics: metricsInto(counts),
    reconnectMs: 100,
    handshakeMs: 2000,
    closeGraceMs: 200,
    ...options,
  });
  const heard: string[] = [];
  const turns: string[] = [];
  bus.onFrame = (from, { view, payload }) => {
    heard.push(payload.length === 0 ? `${from}:${view}` : `${from}:${view}+${payload.length}`);
  };
  bus.onPeerUp = (peer) => turns.push(`up ${peer}`);
  bus.onPeerDown = (peer) => turns.push(`down ${peer}`);
  return {
    bus,
    pool,
    lines,
    heard,
    turns,
    count: (name) => counts.get(name) ?? 0,
    send: (to, changes) => bus.send(to, frameOf(replica, changes)),
  };
}

function logInto(lines: string[]): Log {
  const line = (message: string, facts?: LogFacts) => lines.push(`${message} ${String(facts?.["reason"])}`);
  const log: Log = { debug: line, info: line, warn: line, error: line, child: () => log };
  return log;
}

function metricsInto(counts: Map<string, number>): Metrics {
  return {
    counter(name, _help, labels) {
      const key = labels === undefined ? name : `${name}{${Object.values(labels).join()}}`;
      return { add: (amount) => void counts.set(key, (counts.get(key) ?? 0) + amount) };
    },
    gauge() {},
  };
}
