import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BlockPool, createChecksumKernel, type Lease, writeBatch } from "@millrace/framing";
import { type Disk, type DiskFile, silentLog } from "@millrace/platform";
import { createNodePlatform } from "@millrace/platform/node";
import { openPartition, type Partition, StorageOperation, TailCache } from "@millrace/storage";
import { median } from "./process-usage.ts";

const MIB = 1 << 20;
const PAYLOAD_LENGTH = 256;
const IN_FLIGHT = 8;
/** One run takes a tenth of a second and differs from the next by more than what is measured. */
const RUNS_PER_ROUND = 3;

/** What the op records beside the log cost: wall and CPU time with them, divided by the same without them. */
export interface OpsCost {
  readonly name: string;
  readonly wallFactor: number;
  readonly cpuFactor: number;
}

interface Spent {
  readonly wall: number;
  readonly cpu: number;
}

/** A disk that keeps `.ops` files empty, so that only the log is written. For this measurement only. */
function withoutOps(disk: Disk): Disk {
  const hollow = (file: DiskFile): DiskFile => ({
    path: file.path,
    write: (_parts, _position, done) => queueMicrotask(() => done()),
    datasync: (done) => queueMicrotask(() => done()),
    read: (target, position, done) => file.read(target, position, done),
    preallocate: (length) => file.preallocate(length),
    truncate: (length) => file.truncate(length),
    length: () => file.length(),
    close: () => file.close(),
  });
  const openFile: Disk["openFile"] = async (path, mode) => {
    const file = await disk.openFile(path, mode);
    return path.endsWith(".ops") ? hollow(file) : file;
  };
  return new Proxy(disk, {
    get(target, name) {
      if (name === "openFile") return openFile;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** Appends `total` batches with a fixed number in flight; ends when all are journaled. */
function appendAll(partition: Partition, batch: Lease, count: number, total: number): Promise<void> {
  let sent = 0;
  let done = 0;
  return new Promise((resolve, reject) => {
    const onDone = (error?: Error) => {
      if (error !== undefined) return reject(error);
      partition.commit(++done);
      if (done === total) resolve();
      else sendOne();
    };
    const sendOne = () => {
      if (sent === total) return;
      const op = ++sent;
      batch.view.setBigUint64(8, BigInt((op - 1) * count), true);
      const header = {
        op,
        view: 0,
        parent: BigInt(op - 1),
        checksum: BigInt(op),
        client: 1n,
        request: BigInt(op),
        user: 0,
      };
      partition.appendBatch(
        { ...header, operation: StorageOperation.batch, timestamp: 1_000_000 },
        batch,
        onDone,
      );
    };
    for (let at = 0; at < IN_FLIGHT; at++) sendOne();
  });
}

async function run(
  disk: Disk,
  path: string,
  count: number,
  total: number,
  persisted: boolean,
): Promise<Spent> {
  const kernel = createChecksumKernel({ memoryLength: 256 * MIB });
  const pool = new BlockPool(kernel.memory);
  const partition = await openPartition({
    disk,
    path,
    identity: { streamId: 0, topicId: 0, partitionId: 0, revision: 1 },
    kernel,
    pool,
    tailCache: new TailCache({ lengthMax: 64 * MIB }),
    log: silentLog,
    role: "exclusive",
    segmentLengthMax: 1024 * MIB,
    durability: persisted ? "persisted" : "replicated",
    offsetDurability: "replicated",
    validateChecksums: true,
    consumerOffsetsMax: 4096,
  });
  const messages = Array.from({ length: count }, (_, id) => ({
    id: BigInt(id + 1),
    payload: new Uint8Array(PAYLOAD_LENGTH),
  }));
  const length = 256 + count * (48 + PAYLOAD_LENGTH);
  const block = pool.allocate(length);
  if (block === undefined) throw new Error("the pool is too small for one batch");
  const batch = block.part(0, length);
  writeBatch(block.bytes, 0, messages, 1_000_000);
  batch.view.setBigUint64(16, 1_000_000n, true);
  kernel.sealBatch(batch.position, length);
  const [cpu, wall] = [process.cpuUsage(), process.hrtime.bigint()];
  await appendAll(partition, batch, count, total);
  const used = process.cpuUsage(cpu);
  const spent = { wall: Number(process.hrtime.bigint() - wall) / 1e3, cpu: used.user + used.system };
  await partition.close().catch(() => {});
  batch.release();
  block.release();
  return spent;
}

async function compareOps(
  name: string,
  count: number,
  total: number,
  persisted: boolean,
  rounds: number,
): Promise<OpsCost> {
  const folder = await mkdtemp(join(process.env["MILLRACE_BENCH_DIR"] ?? tmpdir(), "millrace-ops-"));
  const { disk } = createNodePlatform({ dataPath: folder });
  const [bares, wholes]: [Spent[], Spent[]] = [[], []];
  for (let round = -1; round < rounds * RUNS_PER_ROUND; round++) {
    const bare = await run(withoutOps(disk), `bare-${round}`, count, total, persisted);
    const whole = await run(disk, `whole-${round}`, count, total, persisted);
    if (round >= 0) bares.push(bare);
    if (round >= 0) wholes.push(whole);
    await Promise.all([`bare-${round}`, `whole-${round}`].map((path) => disk.removeDirectory(path)));
  }
  await rm(folder, { recursive: true, force: true });
  const factor = (part: keyof Spent) =>
    median(wholes.map((one) => one[part])) / median(bares.map((one) => one[part]));
  return { name, wallFactor: factor("wall"), cpuFactor: factor("cpu") };
}

/** Appends the same batches to the storage engine with and without op records, in turns. */
export async function benchOpsCost(rounds: number): Promise<OpsCost[]> {
  return [
    await compareOps("1000 x 256 B", 1000, 1000, false, rounds),
    await compareOps("1 x 256 B", 1, 50_000, false, rounds),
    await compareOps("1000 x 256 B, persisted", 1000, 150, true, rounds),
  ];
}
