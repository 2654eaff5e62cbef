import { isCodedError } from "@millrace/errors";
import {
  type FrameHash,
  isWireError,
  type OpenedFrame,
  openReplicaFrame,
  WireCommand,
} from "@millrace/framing";
import type { Random } from "@millrace/platform";
import type { PeerSocket } from "../peer-socket.ts";
import type { ChannelKeys } from "./channel-keys.ts";
import type { DataKey } from "./data-key.ts";
import { refusal } from "./refusal.ts";
import { EXPORTER_LENGTH, Security } from "./transcript.ts";

/** What a replica says of itself in every handshake. */
export interface OwnSide {
  readonly replica: number;
  readonly replicaCount: number;
  readonly cluster: bigint;
  readonly hash: FrameHash;
  readonly random: Random;
  /** Without, peers are taken at their word. */
  readonly keys: ChannelKeys | undefined;
  readonly isEncrypted: boolean;
  /** Given when this side encrypts its messages at rest: the others must do it with the same key. */
  readonly dataKey: DataKey | undefined;
}

/** Name under which TLS gives both ends of a connection, and nobody else, the same bytes. */
const EXPORTER_LABEL = "EXPORTER-millrace-replica";

/** Place of the command byte in a header of 256 bytes. */
const COMMAND_POSITION = 60;

/** Bits of `Security` that this side asks for. */
export function securityOf({ keys, isEncrypted, dataKey }: OwnSide): number {
  const ofChannel =
    (keys === undefined ? 0 : Security.authenticated) | (isEncrypted ? Security.encrypted : 0);
  return ofChannel | (dataKey === undefined ? 0 : Security.sealedData);
}

/** What ties a proof to this connection; zeros without TLS. */
export function exporterOf({ tls }: PeerSocket): Uint8Array {
  if (tls === undefined) return new Uint8Array(EXPORTER_LENGTH);
  return tls.exportKeyingMaterial(EXPORTER_LENGTH, EXPORTER_LABEL, Buffer.alloc(0));
}

/** Opens a frame of somebody who proved nothing yet. @throws CodedError ReplicaRefused */
export function openHandshakeFrame(hash: FrameHash, bytes: Uint8Array): OpenedFrame {
  try {
    return openReplicaFrame(hash, bytes);
  } catch (cause) {
    if (!isWireError(cause)) throw cause;
    const isClient = bytes[COMMAND_POSITION] === WireCommand.request;
    throw refusal(
      isClient ? "client" : "no_replica",
      { wire: cause.reason, position: cause.position },
      cause,
    );
  }
}

/** What `read` finds in a frame of the expected kind. @throws CodedError ReplicaRefused */
export function readExpected<T>(
  frame: OpenedFrame,
  { command, read }: { readonly command: number; readonly read: (frame: OpenedFrame) => T },
): T {
  const isBare = frame.payload.length === 0 && frame.group === undefined;
  if (frame.command !== command || !isBare) throw refusal("no_replica", { command: frame.command });
  try {
    return read(frame);
  } catch (cause) {
    if (!isWireError(cause)) throw cause;
    throw refusal("no_replica", { wire: cause.reason, position: cause.position }, cause);
  }
}

/** Runs one step of a handshake; the CodedError it throws ends the connection. */
export function stepOf(socket: PeerSocket, step: () => void): void {
  try {
    step();
  } catch (error) {
    if (!isCodedError(error)) throw error;
    socket.close(error);
  }
}
