import { assert, CodedError, ErrorCode } from "@millrace/errors";
import {
  ByteWriter,
  type FrameHash,
  type GroupAddress,
  isWireError,
  type OpenedFrame,
  readFrameFields,
  sealReplicaFrame,
  WireError,
} from "@millrace/framing";
import { type AskToLeadMessage, askToLeadCodec } from "./ask-to-lead.ts";
import { type CommitMessage, commitCodec } from "./commit.ts";
import { type CommitsMessage, commitsCodec } from "./commits.ts";
import { type DoViewChangeMessage, doViewChangeCodec } from "./do-view-change.ts";
import type { FieldCodec } from "./field-codec.ts";
import { type FormationMessage, formationCodec } from "./formation.ts";
import { type ForwardedReplyMessage, forwardedReplyCodec } from "./forwarded-reply.ts";
import { type ForwardedRequestMessage, forwardedRequestCodec } from "./forwarded-request.ts";
import { type PrepareMessage, prepareCodec } from "./prepare.ts";
import { type PrepareGoneMessage, prepareGoneCodec } from "./prepare-gone.ts";
import { type PrepareOkMessage, prepareOkCodec } from "./prepare-ok.ts";
import { PREPARE_RECORD_LENGTH } from "./prepare-record.ts";
import { type RequestPrepareMessage, requestPrepareCodec } from "./request-prepare.ts";
import { type RequestStartViewMessage, requestStartViewCodec } from "./request-start-view.ts";
import { type StandingsReplyMessage, standingsReplyCodec } from "./standings-reply.ts";
import { type StandingsRequestMessage, standingsRequestCodec } from "./standings-request.ts";
import { type StartViewMessage, startViewCodec } from "./start-view.ts";
import { type StartViewChangeMessage, startViewChangeCodec } from "./start-view-change.ts";
import { type StateChunkMessage, stateChunkCodec } from "./state-chunk.ts";
import { type StateChunkRequestMessage, stateChunkRequestCodec } from "./state-chunk-request.ts";
import { type StateEndMessage, stateEndCodec } from "./state-end.ts";
import { type StateManifestMessage, stateManifestCodec } from "./state-manifest.ts";
import { type StateRequestMessage, stateRequestCodec } from "./state-request.ts";
import { type ViewNumberMessage, viewNumberCodec } from "./view-number.ts";
import { type VouchMessage, vouchCodec } from "./vouch.ts";

/** What replicas of one group agree by; shaped as the consensus takes it. */
export type GroupMessage =
  | PrepareMessage
  | PrepareOkMessage
  | CommitMessage
  | StartViewChangeMessage
  | DoViewChangeMessage
  | StartViewMessage
  | RequestStartViewMessage
  | ViewNumberMessage
  | RequestPrepareMessage
  | PrepareGoneMessage
  | AskToLeadMessage;

/** How the state of a group comes to a replica that is too far behind for its log. */
export type StateMessage =
  | StateRequestMessage
  | StateManifestMessage
  | StateChunkRequestMessage
  | StateChunkMessage
  | StateEndMessage;

/** A client's request on its way to the primary, and back. */
export type ForwardMessage = ForwardedRequestMessage | ForwardedReplyMessage;

/** Where a node stands in its groups. */
export type StandingsMessage = StandingsRequestMessage | StandingsReplyMessage;

/** Everything that is said between replicas, about one group. */
export type ReplicaMessage =
  | GroupMessage
  | StateMessage
  | ForwardMessage
  | FormationMessage
  | VouchMessage
  | StandingsMessage
  | CommitsMessage;

/** Who says it, about which group. */
export interface ReplicaEnvelope {
  readonly hash: FrameHash;
  readonly cluster: bigint;
  readonly replica: number;
  readonly group: GroupAddress;
}

const CODECS: {
  readonly [Kind in ReplicaMessage["kind"]]: FieldCodec<Extract<ReplicaMessage, { kind: Kind }>>;
} = {
  prepare: prepareCodec,
  prepareOk: prepareOkCodec,
  commit: commitCodec,
  startViewChange: startViewChangeCodec,
  doViewChange: doViewChangeCodec,
  startView: startViewCodec,
  requestStartView: requestStartViewCodec,
  viewNumber: viewNumberCodec,
  requestPrepare: requestPrepareCodec,
  prepareGone: prepareGoneCodec,
  askToLead: askToLeadCodec,
  stateRequest: stateRequestCodec,
  stateManifest: stateManifestCodec,
  stateChunkRequest: stateChunkRequestCodec,
  stateChunk: stateChunkCodec,
  stateEnd: stateEndCodec,
  forwardedRequest: forwardedRequestCodec,
  forwardedReply: forwardedReplyCodec,
  formation: formationCodec,
  vouch: vouchCodec,
  standingsRequest: standingsRequestCodec,
  standingsReply: standingsReplyCodec,
  commits: commitsCodec,
};

const BY_COMMAND: ReadonlyMap<number, FieldCodec<ReplicaMessage>> = new Map(
  Object.values(CODECS).map((codec) => [codec.command, codec as FieldCodec<ReplicaMessage>]),
);

const NO_PAYLOAD = new Uint8Array(0);

/** Fields of a message on their way into its head, which copies them. */
const fieldsWriter = new ByteWriter(PREPARE_RECORD_LENGTH);

/**
 * The sealed frame of a message as parts; the same ones may be sent to several peers. What the message
 * carries is not copied and has to stay as it is until all of them are done.
 *
 * @throws WireError for a value that its field cannot hold
 */
export function encodeReplicaMessage(
  envelope: ReplicaEnvelope,
  message: ReplicaMessage,
): readonly Uint8Array[] {
  const { hash, cluster, replica, group } = envelope;
  const sender = "replica" in message ? message.replica : replica;
  assert(sender === replica, "a replica speaks for itself");
  const codec = CODECS[message.kind] as FieldCodec<ReplicaMessage>;
  codec.write(fieldsWriter.restart(), message);
  return sealReplicaFrame(hash, {
    command: codec.command,
    cluster,
    view: message.view,
    replica,
    group,
    fields: fieldsWriter.finish(),
    payload: codec.payloadOf?.(message) ?? NO_PAYLOAD,
  });
}

/** A message, and the group it is about. */
export interface AddressedMessage {
  readonly group: GroupAddress;
  readonly message: ReplicaMessage;
}

/**
 * What an opened frame says. What it carries are views of the frame.
 *
 * @throws CodedError ReplicaFrameInvalid with `details.reason` and the command: the sender has another
 *         version, or a mistake, for the frame is as it was sealed
 */
export function decodeReplicaMessage(frame: OpenedFrame): AddressedMessage {
  try {
    return decoded(frame);
  } catch (cause) {
    if (!isWireError(cause)) throw cause;
    const { command, replica } = frame;
    const text = `A frame of replica ${replica} with command ${command} is not understood: ${cause.message}.`;
    throw new CodedError(ErrorCode.ReplicaFrameInvalid, text, {
      details: { reason: cause.reason, position: cause.position, command, replica },
      cause,
    });
  }
}

function decoded(frame: OpenedFrame): AddressedMessage {
  const codec = BY_COMMAND.get(frame.command);
  if (codec === undefined || frame.group === undefined) throw new WireError("unknown_kind", 0);
  const message = readFrameFields(frame, (reader) => codec.read(reader, frame));
  if (codec.payloadOf === undefined && frame.payload.length > 0) {
    throw new WireError("trailing_bytes", frame.payloadPosition);
  }
  return { group: frame.group, message };
}
