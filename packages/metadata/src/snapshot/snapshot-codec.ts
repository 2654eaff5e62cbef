import { CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import { ByteReader, ByteWriter, isWireError, WireError } from "@millrace/framing";
import { Catalog } from "../catalog/catalog.ts";
import { groupsSection } from "./groups-section.ts";
import type { Section } from "./section.ts";
import { streamsSection } from "./streams-section.ts";
import { usersSection } from "./users-section.ts";

/** Version of the frame around the sections. */
const SNAPSHOT_VERSION = 1;

/** In the order in which they are written. A new part of the catalog is a new row here. */
const SECTIONS: readonly Section[] = [usersSection, streamsSection, groupsSection];

/**
 * The whole catalog as bytes; equal catalogs give equal bytes, whatever their history.
 *
 * Shape: version u32, applied op u64, sections u32, then per section in ascending id: id u32, version u32,
 * length u32, bytes. Whoever stores the bytes adds the checksum.
 * @see docs/spec/metadata-operations.md
 */
export function encodeSnapshot(catalog: Catalog): Uint8Array {
  const writer = new ByteWriter();
  writer.u32(SNAPSHOT_VERSION).u64(catalog.appliedOp).u32(SECTIONS.length);
  for (const section of SECTIONS) {
    writer.u32(section.id).u32(section.version);
    const lengthPosition = writer.length;
    writer.u32(0);
    section.write(writer, catalog);
    writer.setU32(lengthPosition, writer.length - lengthPosition - 4);
  }
  return writer.finish();
}

/**
 * The catalog of a snapshot. Nothing of `bytes` is kept alive.
 *
 * A section that is absent leaves its part empty: the snapshot is older than the part.
 * @throws CodedError MetadataDamaged with `details.position`, for bytes that `encodeSnapshot` cannot have
 *                    written; FormatTooNew for a version or a section of a later release
 */
export function decodeSnapshot(bytes: Uint8Array): Catalog {
  const reader = new ByteReader(bytes);
  try {
    return readCatalog(reader, bytes);
  } catch (error) {
    if (isCodedError(error, ErrorCode.FormatTooNew)) throw error;
    if (!isWireError(error) && !isCodedError(error)) throw error;
    const position = isWireError(error) ? error.position : reader.position;
    throw new CodedError(ErrorCode.MetadataDamaged, "The metadata snapshot is damaged.", {
      details: { position },
      cause: error,
    });
  }
}

function readCatalog(reader: ByteReader, bytes: Uint8Array): Catalog {
  const version = reader.u32();
  if (version > SNAPSHOT_VERSION) throw tooNew("version", version);
  if (version < SNAPSHOT_VERSION) throw new WireError("bad_value", 0);
  const catalog = new Catalog();
  catalog.appliedOp = reader.u64Number();
  const count = reader.u32();
  let previousId = 0;
  for (let index = 0; index < count; index += 1) {
    const position = reader.position;
    const id = reader.u32();
    if (id <= previousId) throw new WireError("bad_value", position);
    readSection(reader, bytes, { id, catalog });
    previousId = id;
  }
  reader.finish();
  return catalog;
}

function readSection(
  reader: ByteReader,
  bytes: Uint8Array,
  { id, catalog }: { readonly id: number; readonly catalog: Catalog },
): void {
  const section = SECTIONS.find((one) => one.id === id);
  const position = reader.position;
  const version = reader.u32();
  if (section === undefined || version > section.version) throw tooNew("section", id);
  if (version === 0) throw new WireError("bad_value", position);
  const length = reader.u32();
  const start = reader.position;
  reader.skip(length);
  const part = new ByteReader(bytes, start, start + length);
  section.read(part, catalog, version);
  part.finish();
}

function tooNew(what: string, number: number): CodedError {
  return new CodedError(ErrorCode.FormatTooNew, "The metadata snapshot was written by a newer release.", {
    details: { [what]: number },
  });
}
