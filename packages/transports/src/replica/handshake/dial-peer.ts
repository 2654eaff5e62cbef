import { ReplicaCommand } from "@millrace/framing";
import type { PeerSocket } from "../peer-socket.ts";
import { MAC_LENGTH } from "./channel-keys.ts";
import { type Challenge, finishFrame, helloFrame, readChallenge } from "./handshake-frames.ts";
import {
  exporterOf,
  type OwnSide,
  openHandshakeFrame,
  readExpected,
  securityOf,
  stepOf,
} from "./handshake-side.ts";
import { ACCEPTED, reasonOfStatus, refusal } from "./refusal.ts";
import { type Agreement, NONCE_LENGTH, transcriptOf } from "./transcript.ts";

/**
 * The dialer's half: says hello, checks the challenge, proves itself. Whatever is wrong closes the socket
 * with ReplicaRefused.
 *
 * A peer that used the previous secret is answered with that one, so that secrets can be exchanged on one
 * node after the other.
 * @param onPeer  called once, when the finish is on its way; the socket's callbacks are set within
 * @see server-semantics section 19, replica handshake
 */
export function dialPeer(socket: PeerSocket, self: OwnSide, peer: number, onPeer: () => void): void {
  const security = securityOf(self);
  const { replicaCount, cluster, replica: dialer } = self;
  const nonce = self.random.bytes(NONCE_LENGTH);
  const keyProof = self.dataKey?.prove({ cluster, dialer, acceptor: peer, nonce });
  socket.send(helloFrame(self, { target: peer, replicaCount, security, nonce, keyProof }));
  socket.onFrame = ({ bytes }) =>
    stepOf(socket, () => {
      const frame = openHandshakeFrame(self.hash, bytes);
      const challenge = readExpected(frame, { command: ReplicaCommand.challenge, read: readChallenge });
      if (challenge.status !== ACCEPTED) throw refusedBy(peer, challenge.status);
      if (frame.cluster !== self.cluster) throw refusal("other_cluster", { replica: peer });
      if (frame.replica !== peer) throw refusal("other_replica", { replica: peer });
      const agreement: Agreement = {
        ...{ cluster, dialer },
        acceptor: peer,
        replicaCount,
        security,
        dialerNonce: nonce,
        acceptorNonce: challenge.nonce,
        exporter: exporterOf(socket),
      };
      socket.send(finishFrame(self, { mac: answerTo(challenge, agreement, self) }));
      onPeer();
    });
}

/** The dialer's proof under the key that the acceptor used. */
function answerTo({ mac }: Challenge, agreement: Agreement, { keys }: OwnSide): Uint8Array {
  if (keys === undefined) return new Uint8Array(MAC_LENGTH);
  const key = keys.provenBy(mac, transcriptOf(agreement, "acceptor"));
  if (key === undefined) throw refusal("unproven", { replica: agreement.acceptor });
  return keys.prove(key, transcriptOf(agreement, "dialer"));
}

function refusedBy(replica: number, status: number) {
  return refusal(reasonOfStatus(status) ?? "no_replica", { replica, status, refusedBy: "peer" });
}
