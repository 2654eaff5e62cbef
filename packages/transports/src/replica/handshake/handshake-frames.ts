import {
  type ByteReader,
  ByteWriter,
  type FrameHash,
  type OpenedFrame,
  ReplicaCommand,
  readFrameFields,
  sealReplicaFrame,
} from "@millrace/framing";
import { MAC_LENGTH } from "./channel-keys.ts";
import { NONCE_LENGTH, Security } from "./transcript.ts";

/** Longest frame before a peer has proved itself: a header, and room to name a client that lost its way. */
export const HANDSHAKE_FRAME_LENGTH_MAX = 1024;

/** Dialer to acceptor, first. */
export interface Hello {
  /** Which replica is meant. */
  readonly target: number;
  readonly replicaCount: number;
  /** Bits of `Security`. */
  readonly security: number;
  readonly nonce: Uint8Array;
  /** See `DataKey`; only from a side that encrypts its messages at rest. */
  readonly keyProof: Uint8Array | undefined;
}

/** Acceptor to dialer. Without authentication, and with a status that refuses, the proof is zeros. */
export interface Challenge {
  /** 0 accepts; see `refusal.ts`. */
  readonly status: number;
  readonly nonce: Uint8Array;
  readonly mac: Uint8Array;
}

/** Dialer to acceptor, last. */
export interface Finish {
  readonly mac: Uint8Array;
}

/** Who sends a frame, and how it is sealed. */
export interface Sender {
  readonly hash: FrameHash;
  readonly cluster: bigint;
  readonly replica: number;
}

const NO_PAYLOAD = new Uint8Array(0);

/** A sealed hello. */
export function helloFrame(sender: Sender, hello: Hello): readonly Uint8Array[] {
  const fields = new ByteWriter()
    .u8(hello.target)
    .u8(hello.replicaCount)
    .u8(hello.security)
    .bytes(hello.nonce);
  if (hello.keyProof !== undefined) fields.bytes(hello.keyProof);
  return sealed(sender, ReplicaCommand.hello, fields);
}

/** A sealed challenge. */
export function challengeFrame(sender: Sender, challenge: Challenge): readonly Uint8Array[] {
  const fields = new ByteWriter().u8(challenge.status).bytes(challenge.nonce).bytes(challenge.mac);
  return sealed(sender, ReplicaCommand.challenge, fields);
}

/** A sealed finish. */
export function finishFrame(sender: Sender, { mac }: Finish): readonly Uint8Array[] {
  return sealed(sender, ReplicaCommand.finish, new ByteWriter().bytes(mac));
}

/** What a hello says; its bytes are copies. @throws WireError */
export function readHello(frame: OpenedFrame): Hello {
  return readFrameFields(frame, (reader) => {
    const [target, replicaCount, security] = [reader.u8(), reader.u8(), reader.u8()];
    const nonce = copyOf(reader, NONCE_LENGTH);
    const hasProof = (security & Security.sealedData) !== 0;
    const keyProof = hasProof ? copyOf(reader, MAC_LENGTH) : undefined;
    return { target, replicaCount, security, nonce, keyProof };
  });
}

/** What a challenge says; its bytes are copies. @throws WireError */
export function readChallenge(frame: OpenedFrame): Challenge {
  return readFrameFields(frame, (reader) => ({
    status: reader.u8(),
    nonce: copyOf(reader, NONCE_LENGTH),
    mac: copyOf(reader, MAC_LENGTH),
  }));
}

/** What a finish says; its bytes are a copy. @throws WireError */
export function readFinish(frame: OpenedFrame): Finish {
  return readFrameFields(frame, (reader) => ({ mac: copyOf(reader, MAC_LENGTH) }));
}

function copyOf(reader: ByteReader, length: number): Uint8Array {
  return reader.bytes(length).slice();
}

function sealed(sender: Sender, command: ReplicaCommand, fields: ByteWriter): readonly Uint8Array[] {
  const { hash, cluster, replica } = sender;
  const frame = { command, cluster, view: 0, replica, fields: fields.finish(), payload: NO_PAYLOAD };
  return sealReplicaFrame(hash, frame);
}
