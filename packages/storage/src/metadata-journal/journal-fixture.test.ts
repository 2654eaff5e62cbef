import { createChecksumKernel } from "@millrace/framing";
import { silentLog } from "@millrace/platform";
import type { SimDisk } from "@millrace/platform/sim";
import type { MetadataJournal } from "./metadata-journal.ts";
import { openMetadataJournal } from "./open-metadata-journal.ts";

const kernel = createChecksumKernel({ memoryLength: 1_048_576 });

export function open(disk: SimDisk): Promise<MetadataJournal> {
  return openMetadataJournal({ disk, path: "metadata", kernel, log: silentLog, role: "exclusive" });
}

/** Appends the next op, whose body names it and its view. */
export function append(journal: MetadataJournal, view = 1): Promise<void> {
  const op = journal.lastOp + 1;
  const header = {
    ...{ client: 1n, request: 9n, user: 3, session: 5n, bodyChecksum: 6n, operation: 64 },
    ...{ op, view, parent: journal.lastOpChecksum, checksum: BigInt(op) * 77n + BigInt(view) },
    ...{ timestamp: op, commit: op - 1 },
  };
  return new Promise((resolve, reject) => {
    journal.append(header, new TextEncoder().encode(`op ${op} of view ${view}`), (error) =>
      error === undefined ? resolve() : reject(error),
    );
  });
}

/** Ten ops, a snapshot of the fourth after the eighth, so that a file begins behind the eighth. */
export async function filled(disk: SimDisk): Promise<MetadataJournal> {
  const journal = await open(disk);
  for (let at = 0; at < 8; at += 1) await append(journal);
  await journal.checkpoint(4, new Uint8Array(10));
  for (let at = 0; at < 2; at += 1) await append(journal);
  return journal;
}
