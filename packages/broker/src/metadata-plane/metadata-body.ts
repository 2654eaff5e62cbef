import type { MetadataRequest } from "./metadata-request.ts";

/** What an op of the metadata group carries through consensus. */
export interface MetadataBody {
  readonly bytes: Uint8Array;
  /** Whom to answer; nothing for an op that another replica numbered, or that was found in the journal. */
  readonly request: MetadataRequest | undefined;
}
