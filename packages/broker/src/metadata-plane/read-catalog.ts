import type { ChecksumKernel } from "@millrace/framing";
import type { Metadata } from "@millrace/metadata";
import type { Disk, Log } from "@millrace/platform";
import { openMetadataJournal } from "@millrace/storage";
import { METADATA_PATH } from "./metadata-path.ts";
import { recoverState } from "./recover-state.ts";

/** A data directory nobody writes to. */
export interface CatalogSource {
  readonly disk: Disk;
  readonly kernel: ChecksumKernel;
  readonly log: Log;
}

/** Sessions do not count here: any number that was stored is read. */
const CLIENTS_MAX = 1_000_000;

/**
 * The catalog of a stopped server's data directory: streams, topics and partitions as of the last op in its
 * journal. Writes nothing.
 * @throws CodedError MetadataDamaged, FormatTooNew, what the disk answers
 */
export async function readCatalog({ disk, kernel, log }: CatalogSource): Promise<Metadata> {
  const journal = await openMetadataJournal({ disk, path: METADATA_PATH, kernel, log, role: "read-only" });
  try {
    return recoverState(journal, { clientsMax: CLIENTS_MAX, isReplicated: false, log }).state.catalog;
  } finally {
    await journal.close();
  }
}
