import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BlockPool, batchLengthOf, createChecksumKernel, type Lease, writeBatch } from "@millrace/framing";
import { type DiskFile, type OpenMode, silentLog } from "@millrace/platform";
import { NodeDisk } from "@millrace/platform/node";
import { StorageOperation } from "../op-record/op-header.ts";
import { TailCache } from "../tail-cache/tail-cache.ts";
import { openPartition } from "./open-partition.ts";
import type { Partition } from "./partition.ts";
import type { PartitionOptions } from "./partition-options.ts";

/**
 * Measures appends, reads and starts of one partition on a real disk; `node` with tsx, prints one line per
 * case.
 */

const kernel = createChecksumKernel({ memoryLength: 268_435_456 });
const pool = new BlockPool(kernel.memory);
const IN_FLIGHT = 8;
const totalLength = Number(process.env["BENCH_LENGTH"] ?? 268_435_456);

const defaults: Omit<PartitionOptions, "disk" | "tailCache"> = {
  path: "p",
  identity: { streamId: 1, topicId: 2, partitionId: 3, revision: 4 },
  kernel,
  pool,
  log: silentLog,
  role: "exclusive",
  segmentLengthMax: 1_073_741_824,
  durability: "replicated",
  offsetDurability: "replicated",
  validateChecksums: true,
  consumerOffsetsMax: 4096,
};

interface Template {
  readonly lease: Lease;
  readonly length: number;
}

function template(count: number, payloadLength: number): Template {
  const messages = Array.from({ length: count }, (_, at) => ({
    payload: new Uint8Array(payloadLength).fill(at),
  }));
  const length = batchLengthOf(messages);
  const lease = pool.allocate(length);
  if (lease === undefined) throw new Error("no block");
  writeBatch(lease.bytes, 0, messages, 1000);
  kernel.sealBatch(lease.position, length);
  return { lease, length };
}

/** A disk whose `.ops` writes cost nothing: what remains is the price of the messages alone. */
class DiskWithoutOps extends NodeDisk {
  override async openFile(path: string, mode: OpenMode): Promise<DiskFile> {
    const file = await super.openFile(path, mode);
    if (path.endsWith(".ops")) file.write = (_parts, _position, done) => queueMicrotask(done);
    return file;
  }
}

let timestamp = 1_000_000;

function appendOne(partition: Partition, batch: Template, done: () => void): void {
  timestamp += 1;
  const block = pool.allocate(batch.length);
  if (block === undefined) throw new Error("no block");
  block.bytes.set(batch.lease.bytes.subarray(0, batch.length));
  kernel.stampBatch(block.position, 3, partition.nextOffset, timestamp);
  const lease = block.part(0, batch.length);
  block.release();
  const op = partition.lastOp + 1;
  const header = {
    op,
    view: 0,
    parent: partition.lastOpChecksum,
    checksum: BigInt(op),
    operation: StorageOperation.batch,
    client: 1n,
    request: BigInt(op),
    user: 1,
    timestamp,
  };
  partition.appendBatch(header, lease, (error) => {
    if (error !== undefined) throw error;
    partition.commit(op);
    done();
  });
  lease.release();
}

function appendMany(partition: Partition, batch: Template, count: number): Promise<void> {
  return new Promise((resolve) => {
    let started = 0;
    let finished = 0;
    const next = () => {
      started += 1;
      appendOne(partition, batch, () => {
        finished += 1;
        if (finished === count) resolve();
        else if (started < count) next();
      });
    };
    for (let one = 0; one < Math.min(IN_FLIGHT, count); one += 1) next();
  });
}

function readMany(partition: Partition, count: number): Promise<number> {
  return new Promise((resolve, reject) => {
    let offset = partition.firstOffset;
    const next = () =>
      partition.read({ from: { offset }, count, lengthMax: 16_777_216 }, (error, result) => {
        if (error !== undefined || result === undefined) return reject(error);
        if (result.count === 0) return resolve(offset);
        offset = result.lastOffset + 1;
        result.release();
        setImmediate(next);
      });
    next();
  });
}

async function timed(name: string, messages: number, action: () => Promise<unknown>): Promise<void> {
  const cpu = process.cpuUsage();
  const start = performance.now();
  await action();
  const wallMs = performance.now() - start;
  const { user, system } = process.cpuUsage(cpu);
  const cpuNanos = ((user + system) * 1000) / messages;
  const [wall, each] = [wallMs.toFixed(0).padStart(7), cpuNanos.toFixed(0).padStart(7)];
  console.log(`${name.padEnd(50)} ${wall} ms  ${each} ns cpu/message`);
}

async function run(
  name: string,
  shape: { count: number; payloadLength: number },
  changes: Partial<PartitionOptions>,
): Promise<void> {
  const root = await mkdtemp(join(tmpdir(), "millrace-bench-"));
  const disk = new NodeDisk(root);
  const tailCache = new TailCache({ lengthMax: 67_108_864 });
  const options: PartitionOptions = { ...defaults, disk, tailCache, ...changes };
  try {
    const batch = template(shape.count, shape.payloadLength);
    const batches = Math.ceil(
      Math.min(totalLength, shape.count === 1 ? 33_554_432 : totalLength) / batch.length,
    );
    const messages = batches * shape.count;
    let partition = await openPartition(options);
    await timed(`${name}: append`, messages, () => appendMany(partition, batch, batches));
    await timed(`${name}: start after a kill`, messages, async () => {
      const other = await openPartition({
        ...options,
        role: "read-only",
        tailCache: new TailCache({ lengthMax: 0 }),
      });
      await other.close();
    });
    await partition.close();
    await timed(`${name}: start after a clean close`, messages, async () => {
      partition = await openPartition(options);
    });
    partition.commit(partition.lastOp);
    await timed(`${name}: read 1000 each from page cache`, messages, () => readMany(partition, 1000));
    await partition.close();
    batch.lease.release();
  } finally {
    await rm(root, { recursive: true });
  }
}

async function priceOfOps(name: string, shape: { count: number; payloadLength: number }): Promise<void> {
  const batch = template(shape.count, shape.payloadLength);
  const batches = Math.ceil(
    Math.min(totalLength, shape.count === 1 ? 16_777_216 : totalLength) / batch.length,
  );
  const cpu: Record<string, number[]> = { with: [], without: [] };
  for (let round = 0; round < 5; round += 1) {
    for (const kind of ["with", "without"] as const) {
      const root = await mkdtemp(join(tmpdir(), "millrace-bench-"));
      const disk = kind === "with" ? new NodeDisk(root) : new DiskWithoutOps(root);
      const partition = await openPartition({
        ...defaults,
        disk,
        tailCache: new TailCache({ lengthMax: 67_108_864 }),
      });
      const before = process.cpuUsage();
      await appendMany(partition, batch, batches);
      const { user, system } = process.cpuUsage(before);
      cpu[kind]?.push(((user + system) * 1000) / (batches * shape.count));
      await partition.close();
      await rm(root, { recursive: true });
    }
  }
  batch.lease.release();
  const median = (values: number[] = []) => values.toSorted((a, b) => a - b)[2] ?? 0;
  const [withOps, without] = [median(cpu["with"]), median(cpu["without"])];
  const share = (((withOps - without) / withOps) * 100).toFixed(0);
  console.log(
    `${name}: ${withOps.toFixed(0)} ns cpu/message, ${without.toFixed(0)} without .ops (${share} %)`,
  );
}

await priceOfOps("1000 x 256 B", { count: 1000, payloadLength: 256 });
await priceOfOps("1 x 256 B", { count: 1, payloadLength: 256 });
await run("1000 x 256 B", { count: 1000, payloadLength: 256 }, {});
await run("1000 x 256 B, persisted", { count: 1000, payloadLength: 256 }, { durability: "persisted" });
await run("1 x 256 B", { count: 1, payloadLength: 256 }, {});
