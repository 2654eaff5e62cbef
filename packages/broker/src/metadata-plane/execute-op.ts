import type { Effect, Metadata } from "@millrace/metadata";
import {
  encodeLoginReply,
  encodeResultRejection,
  encodeResultSuccess,
  Operation,
  PROTOCOL_VERSION,
  SERVER_VERSION_TEXT,
} from "@millrace/protocol";

/** A committed op of the metadata group, from the pipeline or from the journal. */
export interface CommittedMetadataOp {
  readonly op: number;
  readonly operation: number;
  readonly timestamp: number;
  readonly client: bigint;
  readonly session: number;
  readonly user: number;
  readonly body: Uint8Array;
}

/** The body its client gets, and what partitions have to do now. */
export interface Execution {
  readonly body: Uint8Array;
  readonly effects: readonly Effect[];
}

const EMPTY = new Uint8Array(0);

/**
 * Executes one committed op on the catalog. The same for an op that commits now and for one replayed at
 * start.
 *
 * Register and Logout belong to the client table; the catalog counts them, and their bodies depend on the op
 * alone.
 */
export function executeOp(catalog: Metadata, committed: CommittedMetadataOp): Execution {
  const { code, body, effects } = catalog.apply(committed);
  if (committed.operation === Operation.Register) {
    return { body: encodeResultSuccess(loginReply(committed)), effects };
  }
  if (committed.operation === Operation.Logout) return { body: EMPTY, effects };
  return { body: code === 0 ? encodeResultSuccess(body) : encodeResultRejection(code), effects };
}

function loginReply({ op, user }: CommittedMetadataOp): Uint8Array {
  return encodeLoginReply({
    userId: user,
    session: op,
    serverProtocolVersion: PROTOCOL_VERSION,
    serverVersion: SERVER_VERSION_TEXT,
  });
}
