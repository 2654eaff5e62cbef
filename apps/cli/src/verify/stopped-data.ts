import { partitionFolders, partitionPath, readCatalog } from "@millrace/broker";
import { CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import { BlockPool, type ChecksumKernel, createChecksumKernel, MESSAGE_LENGTH_MAX } from "@millrace/framing";
import { identityOf, type Metadata } from "@millrace/metadata";
import { type Disk, silentLog } from "@millrace/platform";
import { createNodePlatform } from "@millrace/platform/node";
import {
  checkDataFormat,
  lockDataDirectory,
  openPartition,
  type Partition,
  type PartitionIdentity,
  TailCache,
  VERIFY_FROM_START,
} from "@millrace/storage";
import { type VerifiedPartition, verifyToEnd } from "./verified-partition.ts";

/** Room for the longest batch and for one window of ordinary ones. */
const MEMORY_LENGTH = MESSAGE_LENGTH_MAX + 16_777_216;
/** Bytes of a step; nobody else waits here. */
const STEP_LENGTH = 16_777_216;

/** A partition of a stopped server, and how its catalog names it. */
export interface StoredPartition {
  readonly identity: PartitionIdentity;
  readonly streamName: string;
  readonly topicName: string;
}

/** The data directory of a server that does not run, held so that none starts meanwhile. */
export class StoppedData {
  readonly partitions: readonly StoredPartition[];
  /** Why the catalog cannot be read: partitions are those of the folders then, and have no names but ids. */
  readonly catalogFault: CodedError | undefined;
  readonly #disk: Disk;
  readonly #kernel: ChecksumKernel;
  readonly #pool: BlockPool;
  readonly #release: () => Promise<void>;

  private constructor(parts: {
    readonly found: FoundPartitions;
    readonly disk: Disk;
    readonly kernel: ChecksumKernel;
    readonly release: () => Promise<void>;
  }) {
    this.partitions = parts.found.partitions;
    this.catalogFault = parts.found.catalogFault;
    this.#disk = parts.disk;
    this.#kernel = parts.kernel;
    this.#pool = new BlockPool(parts.kernel.memory);
    this.#release = parts.release;
  }

  /**
   * Takes a data directory and reads its catalog; nothing but the lock file is written.
   * @throws CodedError DataDirectoryInUse while a server has it, ForeignDataDirectory, DataDirectoryUnusable,
   *         FormatTooNew
   */
  static async open(dataPath: string): Promise<StoppedData> {
    const { disk } = createNodePlatform({ dataPath });
    if ((await checkDataFormat(disk)) === undefined) throw nothingThere(disk.root);
    const lock = await lockDataDirectory(disk);
    try {
      const kernel = createChecksumKernel({ memoryLength: MEMORY_LENGTH });
      const found = await findPartitions(disk, kernel);
      return new StoppedData({ disk, kernel, found, release: () => lock.release() });
    } catch (error) {
      await lock.release();
      throw error;
    }
  }

  /** Looks through one partition's files. */
  async verify({ identity, streamName, topicName }: StoredPartition): Promise<VerifiedPartition> {
    const partition = await this.#openReadOnly(identity);
    try {
      const name = { stream: streamName, topic: topicName, partitionId: identity.partitionId };
      const fault = faultOf(partition);
      return await verifyToEnd(name, async (from = VERIFY_FROM_START) => ({
        ...(await partition.verify({ from, lengthMax: STEP_LENGTH })),
        fault,
      }));
    } finally {
      await partition.close();
    }
  }

  /** Lets servers have the directory again. */
  close(): Promise<void> {
    return this.#release();
  }

  #openReadOnly(identity: PartitionIdentity): Promise<Partition> {
    return openPartition({
      disk: this.#disk,
      path: partitionPath(identity),
      identity,
      kernel: this.#kernel,
      pool: this.#pool,
      tailCache: new TailCache({ lengthMax: 0 }),
      log: silentLog,
      role: "read-only",
      segmentLengthMax: Number.MAX_SAFE_INTEGER,
      durability: "persisted",
      offsetDurability: "persisted",
      validateChecksums: true,
      consumerOffsetsMax: Number.MAX_SAFE_INTEGER,
    });
  }
}

interface FoundPartitions {
  readonly partitions: readonly StoredPartition[];
  readonly catalogFault: CodedError | undefined;
}

/** The partitions of the catalog; when that is damaged, those that have a folder. */
async function findPartitions(disk: Disk, kernel: ChecksumKernel): Promise<FoundPartitions> {
  try {
    const catalog = await readCatalog({ disk, kernel, log: silentLog });
    return { partitions: [...partitionsOf(catalog)], catalogFault: undefined };
  } catch (error) {
    if (!isCodedError(error, ErrorCode.MetadataDamaged)) throw error;
    const partitions: StoredPartition[] = [];
    for await (const { identity } of partitionFolders(disk)) {
      if (identity === undefined) continue;
      const { streamId, topicId } = identity;
      partitions.push({ identity, streamName: `#${streamId}`, topicName: `#${topicId}` });
    }
    return { partitions, catalogFault: error };
  }
}

function* partitionsOf(catalog: Metadata): Generator<StoredPartition> {
  for (const stream of catalog.streams()) {
    for (const topic of stream.topics.list()) {
      for (const partition of topic.partitions) {
        yield { identity: identityOf(topic, partition), streamName: stream.name, topicName: topic.name };
      }
    }
  }
}

function faultOf({ fault }: Partition): string {
  return isCodedError(fault, ErrorCode.PartitionDamaged) ? fault.message : "";
}

function nothingThere(root: string): CodedError {
  const next = "Name the folder that the server writes to; its banner and its setting data.path tell it.";
  const message = `${root} holds no data of a Millrace server.`;
  return new CodedError(ErrorCode.DataDirectoryUnusable, message, { details: { next } });
}
