import { CodedError, ErrorCode } from "@millrace/errors";
import { ByteReader, ByteWriter, isWireError } from "@millrace/framing";
import { createMetadata, type Metadata, restoreMetadata } from "@millrace/metadata";
import { ClientTable } from "@millrace/vsr";

const SNAPSHOT_VERSION = 1;

/** What the metadata group's state is made of: the catalog and who was answered what. */
export interface MetadataState {
  readonly catalog: Metadata;
  readonly clientTable: ClientTable;
}

/** The state of a server that never committed anything. */
export function emptyState(clientsMax: number): MetadataState {
  return { catalog: createMetadata(), clientTable: new ClientTable({ capacity: clientsMax }) };
}

/** Shape: version u32, catalog u32 length + bytes, client table u32 length + bytes. */
export function encodeSnapshot(state: MetadataState): Uint8Array {
  return new ByteWriter()
    .u32(SNAPSHOT_VERSION)
    .bytes32(state.catalog.encodeSnapshot())
    .bytes32(state.clientTable.encode())
    .finish();
}

/**
 * The counterpart of `encodeSnapshot`.
 *
 * @throws CodedError FormatTooNew, MetadataDamaged
 */
export function decodeSnapshot(bytes: Uint8Array, clientsMax: number): MetadataState {
  try {
    const reader = new ByteReader(bytes);
    const version = reader.u32();
    if (version > SNAPSHOT_VERSION) {
      throw new CodedError(ErrorCode.FormatTooNew, "The metadata snapshot was written by a newer release.", {
        details: { version, supported: SNAPSHOT_VERSION },
      });
    }
    const catalog = restoreMetadata(reader.bytes32());
    const clientTable = ClientTable.decode(reader.bytes32(), { capacity: clientsMax });
    reader.finish();
    return { catalog, clientTable };
  } catch (error) {
    if (!isWireError(error)) throw error;
    throw new CodedError(ErrorCode.MetadataDamaged, "The metadata snapshot is damaged.", {
      details: { position: error.position },
      cause: error,
    });
  }
}
