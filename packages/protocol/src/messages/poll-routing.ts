import type { ByteReader, ByteWriter } from "@millrace/framing";
import { decodeWith, encodeWith } from "../body-codec.ts";
import {
  type ConsumerSession,
  readConsumerSession,
  writeConsumerSession,
} from "../system/attach-consumer-session.ts";
import { type ClusterNode, readClusterNode, writeClusterNode } from "../system/get-cluster-metadata.ts";

/**
 * Where a consumer of a cluster polls with auto-commit and writes offsets: what GetPollRouting (whose body is
 * that of PollMessages) and GetConsumerOffsetRouting (that of GetConsumerOffset) answer.
 */
export interface PollRouting {
  /** The asking session, to be attached on a connection to `primary`. */
  readonly consumerSession: ConsumerSession;
  /** The node that leads the partition. */
  readonly primary: ClusterNode;
}

/** Shape: the consumer's session as in AttachConsumerSession, then a node as in the roster. */
export function encodePollRoutingReply(routing: PollRouting): Uint8Array {
  return encodeWith(writePollRouting, routing);
}

/** The counterpart of `encodePollRoutingReply`; throws WireError. */
export function decodePollRoutingReply(payload: Uint8Array): PollRouting {
  return decodeWith(readPollRouting, payload);
}

function writePollRouting(writer: ByteWriter, { consumerSession, primary }: PollRouting): void {
  writeConsumerSession(writer, consumerSession);
  writeClusterNode(writer, primary);
}

function readPollRouting(reader: ByteReader): PollRouting {
  return { consumerSession: readConsumerSession(reader), primary: readClusterNode(reader) };
}
