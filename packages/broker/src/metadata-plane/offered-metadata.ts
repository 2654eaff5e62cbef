import type { FrameHash } from "@millrace/framing";
import type { OfferedState, StateSource } from "../cluster/state-transfer/state-source.ts";
import type { MetadataPlane } from "./metadata-plane.ts";
import { encodeSnapshot, SNAPSHOT_PART } from "./snapshot.ts";

/** The metadata group's state here, for other nodes: encoded when asked for, kept until they have it. */
export function metadataSource(metadata: Pick<MetadataPlane, "snapshot">, hash: FrameHash): StateSource {
  return {
    offer: async () => {
      const snapshot = metadata.snapshot();
      return snapshot.end.op === 0 ? undefined : offered(encodeSnapshot(snapshot), snapshot.end, hash);
    },
  };
}

function offered(
  bytes: Uint8Array,
  { op, checksum }: { readonly op: number; readonly checksum: bigint },
  hash: FrameHash,
): OfferedState {
  return {
    op,
    checksum,
    parts: [{ name: SNAPSHOT_PART, length: bytes.length, checksum: hash.hashBytes(bytes) }],
    read: async (_part, { position, length }) => bytes.slice(position, position + length),
    close: async () => {},
  };
}
