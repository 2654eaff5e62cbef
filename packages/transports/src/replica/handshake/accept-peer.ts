import { assert } from "@millrace/errors";
import { ReplicaCommand } from "@millrace/framing";
import type { PeerSocket } from "../peer-socket.ts";
import { MAC_LENGTH } from "./channel-keys.ts";
import { challengeFrame, type Hello, readFinish, readHello } from "./handshake-frames.ts";
import {
  exporterOf,
  type OwnSide,
  openHandshakeFrame,
  readExpected,
  securityOf,
  stepOf,
} from "./handshake-side.ts";
import { ACCEPTED, type RefusalReason, refusal, statusOf } from "./refusal.ts";
import { type Agreement, NONCE_LENGTH, Security, transcriptOf } from "./transcript.ts";

/** What the acceptor knows of others, and whom it tells. */
export interface AcceptPeerOptions {
  /** True while a process with this id is connected and alive. */
  readonly isConnected: (replica: number) => boolean;
  /** The peer belongs here. Called once; the socket's callbacks are set within. */
  readonly onPeer: (replica: number) => void;
}

/**
 * The acceptor's half: waits for a hello, answers with a challenge, waits for the finish. Whatever is wrong
 * closes the socket with ReplicaRefused.
 * @see server-semantics section 19, replica handshake
 */
export function acceptPeer(socket: PeerSocket, self: OwnSide, options: AcceptPeerOptions): void {
  socket.onFrame = ({ bytes }) =>
    stepOf(socket, () => {
      const frame = openHandshakeFrame(self.hash, bytes);
      const hello = readExpected(frame, { command: ReplicaCommand.hello, read: readHello });
      const from = { cluster: frame.cluster, replica: frame.replica };
      const fault = faultOf(hello, from, self) ?? duplicateOf(from.replica, options);
      if (fault === undefined) challenge(socket, { self, hello, dialer: from.replica }, options);
      else refuse(socket, self, { fault, ...from });
    });
}

/** The first thing that keeps both apart. */
function faultOf(
  hello: Hello,
  from: { readonly cluster: bigint; readonly replica: number },
  self: OwnSide,
): RefusalReason | undefined {
  const { target, replicaCount, security } = hello;
  if (from.cluster !== self.cluster) return "other_cluster";
  if ((security ^ securityOf(self)) & ~Security.sealedData) return "other_security";
  if (from.replica >= self.replicaCount) return "not_in_roster";
  if (replicaCount !== self.replicaCount) return "other_roster";
  if (target !== self.replica) return "other_replica";
  if (from.replica >= self.replica) return "wrong_direction";
  return keyFaultOf(hello, from.replica, self);
}

/** One of both could not read what the other gives it to store. */
function keyFaultOf(
  { keyProof, nonce }: Hello,
  dialer: number,
  { dataKey, cluster, replica: acceptor }: OwnSide,
): RefusalReason | undefined {
  if (keyProof === undefined || dataKey === undefined) {
    return keyProof === undefined && dataKey === undefined ? undefined : "other_encryption";
  }
  return dataKey.isProvenBy(keyProof, { cluster, dialer, acceptor, nonce }) ? undefined : "other_key";
}

function duplicateOf(dialer: number, { isConnected }: AcceptPeerOptions): RefusalReason | undefined {
  return isConnected(dialer) ? "already_connected" : undefined;
}

/** Says why, in the cluster of whoever asked, then closes. */
function refuse(
  socket: PeerSocket,
  { hash, replica: own }: OwnSide,
  {
    fault,
    cluster,
    replica,
  }: { readonly fault: RefusalReason; readonly cluster: bigint; readonly replica: number },
): void {
  const error = refusal(fault, { replica });
  const status = statusOf(fault);
  assert(status !== undefined, "what a hello is refused for has a status");
  const zeros = { nonce: new Uint8Array(NONCE_LENGTH), mac: new Uint8Array(MAC_LENGTH) };
  socket.send(challengeFrame({ hash, cluster, replica: own }, { status, ...zeros }));
  socket.closeAfterWrites(error);
}

/** Proves this side, then waits for the other's proof. */
function challenge(
  socket: PeerSocket,
  { self, hello, dialer }: { readonly self: OwnSide; readonly hello: Hello; readonly dialer: number },
  options: AcceptPeerOptions,
): void {
  const agreement: Agreement = {
    cluster: self.cluster,
    dialer,
    acceptor: self.replica,
    replicaCount: self.replicaCount,
    security: hello.security,
    dialerNonce: hello.nonce,
    acceptorNonce: self.random.bytes(NONCE_LENGTH),
    exporter: exporterOf(socket),
  };
  const mac = self.keys?.prove(0, transcriptOf(agreement, "acceptor")) ?? new Uint8Array(MAC_LENGTH);
  socket.send(challengeFrame(self, { status: ACCEPTED, nonce: agreement.acceptorNonce, mac }));
  const { onClose } = socket;
  // A dialer that does not believe the challenge leaves without a word.
  const left = self.keys === undefined ? undefined : refusal("unproven", { replica: dialer });
  socket.onClose = (error) => onClose(error ?? left);
  socket.onFrame = ({ bytes }) =>
    stepOf(socket, () => {
      const frame = openHandshakeFrame(self.hash, bytes);
      const finish = readExpected(frame, { command: ReplicaCommand.finish, read: readFinish });
      const isProven = self.keys?.provenBy(finish.mac, transcriptOf(agreement, "dialer")) !== undefined;
      if (self.keys !== undefined && !isProven) throw refusal("unproven", { replica: dialer });
      if (frame.replica !== dialer || frame.cluster !== self.cluster) throw refusal("no_replica");
      // Another one with this id may have come while this one was proving itself.
      if (options.isConnected(dialer)) throw refusal("already_connected", { replica: dialer });
      options.onPeer(dialer);
    });
}
