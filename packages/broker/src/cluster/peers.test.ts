import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ReplicaCommand, xxh3_64 } from "@millrace/framing";
import { type PeerBus, silentLog } from "@millrace/platform";
import { CLUSTER_TIMING, type ReplicaMessage } from "@millrace/vsr";
import { Peers } from "./peers.ts";

const PARTITION = { streamId: 1, topicId: 2, partitionId: 3, revision: 4 };

function prepare(): ReplicaMessage {
  const numbers = {
    view: 3,
    op: 5,
    session: 1,
    timestamp: 7,
    commit: 4,
    user: 0,
    operation: 160,
    replica: 0,
  };
  const wide = { parent: 1n, checksum: 2n, client: 3n, bodyChecksum: 4n, request: 6n };
  return { kind: "prepare", view: 3, prepare: { ...numbers, ...wide, body: undefined } };
}

/** A group's way to two other nodes, and the parts that were sent there. */
function groupOfThree() {
  const sent: { readonly to: number; readonly parts: readonly Uint8Array[] }[] = [];
  const bus: PeerBus = {
    ...{ replica: 0, replicaCount: 3, isUp: () => true, close: async () => {} },
    ...{ onFrame: () => {}, onPeerUp: () => {}, onPeerDown: () => {} },
    send: (to, parts, onDone) => {
      sent.push({ to, parts });
      onDone?.();
      return true;
    },
  };
  let hashed = 0;
  const hash = {
    hashBytes: (bytes: Uint8Array) => {
      hashed += bytes.length;
      return xxh3_64(bytes);
    },
  };
  const peers = new Peers({ bus, cluster: 9n, timing: CLUSTER_TIMING }, { hash, log: silentLog, seed: 1 });
  return { peers, sent, group: peers.partitionGroup(PARTITION), hashed: () => hashed };
}

describe("What a replica says to the others", () => {
  it("is sealed once, whoever it is for.", () => {
    const { group, sent, hashed } = groupOfThree();
    const [message, bytes] = [prepare(), new Uint8Array(100_000)];
    let done = 0;
    for (const to of [1, 2]) group.send(to, message, { bytes, onDone: () => (done += 1) });
    assert.deepEqual([sent.map(({ to }) => to), done], [[1, 2], 2]);
    assert.equal(sent[0]?.parts, sent[1]?.parts);
    assert.ok(hashed() < 2 * bytes.length);
  });

  it("is sealed anew when it is another message, or carries other bytes.", () => {
    const { group, sent } = groupOfThree();
    const message = prepare();
    for (const text of [message, prepare()]) group.send(1, text, { bytes: Uint8Array.of(1) });
    group.send(2, message, { bytes: Uint8Array.of(2) });
    assert.deepEqual(
      sent.map(({ parts }) => parts.at(-1)?.[0]),
      [1, 1, 2],
    );
    assert.equal(new Set(sent.map(({ parts }) => parts)).size, 3);
  });

  it("stays as it was when something else is said before it has left.", () => {
    const { group, peers, sent } = groupOfThree();
    group.send(1, prepare(), { bytes: Uint8Array.of(1) });
    const before = sent[0]?.parts.map((part) => part.slice());
    group.send(1, { kind: "prepareOk", view: 8, op: 9, prepareChecksum: 10n, replica: 0 });
    peers.sendVouch(2, [{ client: 1n, session: 2 }]);
    assert.deepEqual(sent[0]?.parts, before);
    const commands = [ReplicaCommand.prepare, ReplicaCommand.prepareOk, ReplicaCommand.vouch];
    assert.deepEqual(
      sent.map(({ parts }) => parts[0]?.[60]),
      commands,
    );
  });
});
