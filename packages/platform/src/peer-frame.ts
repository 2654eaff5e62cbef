import { CodedError, ErrorCode } from "@millrace/errors";
import { type FrameHash, isWireError, type OpenedFrame, openReplicaFrame } from "@millrace/framing";

/**
 * Opens a frame that came over the connection of `peer`, and checks that it is from there.
 *
 * @throws CodedError ReplicaFrameInvalid with `details.reason`: a reason of `WireError` and its `position`,
 *   `other_cluster` or `other_replica`
 */
export function openPeerFrame(
  hash: FrameHash,
  bytes: Uint8Array,
  { cluster, peer }: { readonly cluster: bigint; readonly peer: number },
): OpenedFrame {
  const frame = opened(hash, bytes);
  if (frame.cluster !== cluster) {
    throw new CodedError(ErrorCode.ReplicaFrameInvalid, "A frame is from a replica of another cluster.", {
      details: { reason: "other_cluster", peer },
    });
  }
  if (frame.replica === peer) return frame;
  const text = `A frame on the connection of replica ${peer} says that it is from replica ${frame.replica}.`;
  throw new CodedError(ErrorCode.ReplicaFrameInvalid, text, {
    details: { reason: "other_replica", peer, replica: frame.replica },
  });
}

function opened(hash: FrameHash, bytes: Uint8Array): OpenedFrame {
  try {
    return openReplicaFrame(hash, bytes);
  } catch (cause) {
    if (!isWireError(cause)) throw cause;
    const { reason, position } = cause;
    throw new CodedError(
      ErrorCode.ReplicaFrameInvalid,
      `A frame of a replica is unusable: ${cause.message}.`,
      {
        details: { reason, position },
        cause,
      },
    );
  }
}
