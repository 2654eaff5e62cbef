import { CodedError, ErrorCode } from "@millrace/errors";
import { ByteReader, ByteWriter, isWireError } from "@millrace/framing";
import { createMetadata, type Metadata, restoreMetadata } from "@millrace/metadata";
import { ClientTable } from "@millrace/vsr";

const SNAPSHOT_VERSION = 1;

/** Name of the only part that the metadata group's state has. */
export const SNAPSHOT_PART = "snapshot";

/** What the metadata group's state is made of: the catalog and who was answered what. */
export interface MetadataState {
  readonly catalog: Metadata;
  readonly clientTable: ClientTable;
}

/** Where the metadata group's log ends, or stood when a snapshot was taken. */
export interface LogEnd {
  readonly op: number;
  readonly view: number;
  /** Checksum of `op`, 0n before the first op. */
  readonly checksum: bigint;
  /** Micros of the latest op, so that stamps never go back. */
  readonly timestamp: number;
}

/** The state as of one op. */
export interface MetadataSnapshot {
  readonly state: MetadataState;
  readonly end: LogEnd;
}

/** The state of a server that never committed anything. */
export function emptySnapshot(clientsMax: number): MetadataSnapshot {
  return {
    state: { catalog: createMetadata(), clientTable: new ClientTable({ capacity: clientsMax }) },
    end: { op: 0, view: 0, checksum: 0n, timestamp: 0 },
  };
}

/**
 * Shape: version u32, op u64, view u32, checksum u128, timestamp u64, catalog u32 length + bytes, client
 * table u32 length + bytes.
 */
export function encodeSnapshot({ state, end }: MetadataSnapshot): Uint8Array {
  return new ByteWriter()
    .u32(SNAPSHOT_VERSION)
    .u64(end.op)
    .u32(end.view)
    .u128(end.checksum)
    .u64(end.timestamp)
    .bytes32(state.catalog.encodeSnapshot())
    .bytes32(state.clientTable.encode())
    .finish();
}

/**
 * The counterpart of `encodeSnapshot`.
 *
 * @throws CodedError FormatTooNew, MetadataDamaged
 */
export function decodeSnapshot(bytes: Uint8Array, clientsMax: number): MetadataSnapshot {
  try {
    return readSnapshot(new ByteReader(bytes), clientsMax);
  } catch (error) {
    if (!isWireError(error)) throw error;
    throw new CodedError(ErrorCode.MetadataDamaged, "The metadata snapshot is damaged.", {
      details: { position: error.position },
      cause: error,
    });
  }
}

function readSnapshot(reader: ByteReader, clientsMax: number): MetadataSnapshot {
  const version = reader.u32();
  if (version > SNAPSHOT_VERSION) {
    throw new CodedError(ErrorCode.FormatTooNew, "The metadata snapshot was written by a newer release.", {
      details: { version, supported: SNAPSHOT_VERSION },
    });
  }
  const end = {
    op: reader.u64Number(),
    view: reader.u32(),
    checksum: reader.u128(),
    timestamp: reader.u64Number(),
  };
  const catalog = restoreMetadata(reader.bytes32());
  const clientTable = ClientTable.decode(reader.bytes32(), { capacity: clientsMax });
  reader.finish();
  return { state: { catalog, clientTable }, end };
}
