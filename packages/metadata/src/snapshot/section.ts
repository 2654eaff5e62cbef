import type { ByteReader, ByteWriter } from "@millrace/framing";
import type { Catalog } from "../catalog/catalog.ts";

/** One part of the catalog in a snapshot; parts come and change independently. */
export interface Section {
  /** Lasting number of the section. */
  readonly id: number;
  /** Version that `write` writes; `read` understands it and everything older. */
  readonly version: number;
  write(writer: ByteWriter, catalog: Catalog): void;
  /**
   * Fills an empty part of the catalog.
   * @param version  the version that wrote the bytes, 1..=`this.version`
   * @throws WireError, CodedError on bytes that `write` cannot have written
   */
  read(reader: ByteReader, catalog: Catalog, version: number): void;
}
