import type { CodedError } from "@millrace/errors";
import type { BlockPool, ByteReader, ByteWriter } from "@millrace/framing";
import type { Counter, ShardBus, Timer } from "@millrace/platform";
import type { PartitionIdentity } from "@millrace/storage";
import { LocalPartition } from "../partition-plane/local-partition.ts";
import { findSeenAmong, firstSeen } from "../partition-plane/operations/find-seen.ts";
import type { PartitionHandle, SeenRequest } from "../partition-plane/partition-handle.ts";
import type { PartitionHost, PartitionHostOptions } from "../partition-plane/partition-host.ts";
import type { PartitionOwners } from "../partition-plane/partition-plane.ts";
import { shardOf } from "../routing/shard-hash.ts";
import { RemotePartition } from "./remote-partition.ts";
import { RemoteShard } from "./remote-shard.ts";
import { readContents, writeClient } from "./shard-codec.ts";
import { ShardRequest } from "./shard-request.ts";

/** Appends of a partition on their way, as a multiple of the pipeline's depth: one part in it, two queued. */
const APPENDS_FACTOR = 3;
/** How old contents in metrics may be. Whoever needs them exact asks for that. */
const FRESHEN_INTERVAL_MS = 1000;

/** What is needed beside this shard's own partitions. */
export interface ShardedPartitionsOptions extends PartitionHostOptions {
  readonly host: PartitionHost;
  readonly bus: ShardBus;
  /** Counts what any shard answers with 58 because there was no room in time. */
  readonly deniedTransient: Counter;
}

/** Partitions spread over all shards by the hash of what they are called; shard 0 owns its part. */
export class ShardedPartitions implements PartitionOwners {
  readonly #options: ShardedPartitionsOptions;
  readonly #host: PartitionHost;
  readonly #bus: ShardBus;
  readonly #others: readonly RemoteShard[];
  readonly #byNumber = new Map<number, RemotePartition>();
  #lastNumber = 0;
  #timer: Timer | undefined;
  #givingWayCount = 0;

  constructor(options: ShardedPartitionsOptions) {
    const { host, bus } = options;
    const { memory } = options.kernel;
    this.#options = options;
    this.#host = host;
    this.#bus = bus;
    const others = Array.from({ length: bus.shardsCount - 1 }, (_, index) => index + 1);
    this.#others = others.map((shard) => new RemoteShard(bus, shard, memory.bytes));
    bus.onMessage = (from, message) => this.#others[from - 1]?.receive(message);
    this.#shareMemory(options.pool);
    this.#freshenSoon();
  }

  make(packed: number, identity: PartitionIdentity): PartitionHandle {
    const shard = this.#others[shardOf(packed, this.#bus.shardsCount) - 1];
    if (shard === undefined) return new LocalPartition(identity, this.#host);
    this.#lastNumber += 1;
    const number = this.#lastNumber;
    const appendsMax = APPENDS_FACTOR * this.#options.config.partitionQueueDepth;
    const partition = new RemotePartition(identity, {
      shard,
      number,
      appendsMax,
      onRemoved: () => this.#byNumber.delete(number),
    });
    this.#byNumber.set(number, partition);
    return partition;
  }

  freshen(callback: () => void): void {
    let waitsFor = this.#others.length;
    for (const shard of this.#others) {
      shard.ask(ShardRequest.contents, 0, undefined, (_error, reader) => {
        this.#noteContents(reader);
        waitsFor -= 1;
        if (waitsFor === 0) callback();
      });
    }
  }

  findSeen(
    handles: readonly PartitionHandle[],
    request: SeenRequest,
    found: (handle: PartitionHandle | CodedError | undefined) => void,
  ): void {
    const own = handles.filter((handle) => handle instanceof LocalPartition);
    const asked = this.#others.map((shard) => ({ shard, partitions: ownedBy(shard, handles) }));
    const left = asked.filter(({ partitions }) => partitions.length > 0);
    const heard = firstSeen<PartitionHandle>(1 + left.length, found);
    findSeenAmong(own, request, heard);
    for (const { shard, partitions } of left) {
      const write = (writer: ByteWriter) => writeSeen(writer, request, partitions);
      shard.ask(ShardRequest.findSeen, 0, write, (error, reader) => heard(error ?? partitions[reader.u32()]));
    }
  }

  async stop(): Promise<void> {
    this.#timer?.cancel();
    const stopped = this.#others.map((shard) => shard.request(ShardRequest.stop, 0, undefined, () => {}));
    await Promise.all([this.#host.stop(), ...stopped]);
  }

  #noteContents(reader: ByteReader): void {
    this.#options.deniedTransient.add(reader.u32());
    for (let left = reader.u32(); left > 0; left--) {
      const number = reader.u32();
      const contents = readContents(reader);
      const partition = this.#byNumber.get(number);
      if (partition !== undefined) partition.contents = contents;
    }
  }

  #freshenSoon(): void {
    const { clock } = this.#options.platform;
    this.#timer = clock.setTimer(FRESHEN_INTERVAL_MS, () => {
      this.#freshenSoon();
      this.freshen(() => {});
    });
  }

  /** Batches that other shards keep lie in our blocks: when those run short, the others let go of some. */
  #shareMemory(pool: BlockPool): void {
    const before = pool.onPressure;
    pool.onPressure = () => {
      before?.();
      if (this.#givingWayCount > 0) return;
      for (const shard of this.#others) if (shard.batchesHeld > 0) this.#askForRoom(shard);
    };
  }

  #askForRoom(shard: RemoteShard): void {
    this.#givingWayCount += 1;
    shard.ask(ShardRequest.giveWay, 0, undefined, () => {
      this.#givingWayCount -= 1;
    });
  }
}

function ownedBy(shard: RemoteShard, handles: readonly PartitionHandle[]): RemotePartition[] {
  return handles.filter(
    (handle): handle is RemotePartition => handle instanceof RemotePartition && handle.owner === shard,
  );
}

/** Shape: client, count u32 of partitions: number u32. */
function writeSeen(writer: ByteWriter, request: SeenRequest, partitions: readonly RemotePartition[]): void {
  writeClient(writer, { ...request, isNumbered: true });
  writer.u32(partitions.length);
  for (const { number } of partitions) writer.u32(number);
}
