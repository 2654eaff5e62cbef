import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ErrorCode } from "@millrace/errors";
import { ReplicaCommand, type ReplicaFrame, sealReplicaFrame, xxh3_64 } from "@millrace/framing";
import { createSimPeerBuses, type SimPeerBusOptions } from "./sim-peer-bus.ts";

const hash = { hashBytes: xxh3_64 };

function frameOf(changes: Partial<ReplicaFrame> = {}): readonly Uint8Array[] {
  return sealReplicaFrame(hash, {
    command: ReplicaCommand.commit,
    cluster: 9n,
    view: 1,
    replica: 0,
    fields: new Uint8Array(8),
    payload: new Uint8Array([1, 2, 3]),
    ...changes,
  });
}

function connect(options: Partial<SimPeerBusOptions> = {}) {
  const refused: unknown[] = [];
  const got: string[] = [];
  const { buses, setLink } = createSimPeerBuses({
    replicaCount: 3,
    cluster: 9n,
    hash,
    onRefused: (_packet, { code, details }) => refused.push([code, details["reason"]]),
    ...options,
  });
  for (const bus of buses) {
    const say = (what: string) => got.push(`${bus.replica} ${what}`);
    bus.onFrame = (from, frame) => say(`hears ${frame.view} of ${from}`);
    bus.onPeerUp = (peer) => say(`has ${peer}`);
    bus.onPeerDown = (peer) => say(`lost ${peer}`);
  }
  return { buses, setLink, refused, got };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe("buses between simulated replicas", () => {
  it("hand over what the network lets through, and only that", async () => {
    let count = 0;
    const { buses, got } = connect({
      network: (_packet, deliver) => {
        count++;
        if (count === 2) return;
        if (count === 3) deliver();
        deliver();
      },
    });
    for (const view of [1, 2, 3]) assert.equal(buses[0]?.send(1, frameOf({ view })), true);
    await settled();
    assert.deepEqual(got, ["1 hears 1 of 0", "1 hears 3 of 0", "1 hears 3 of 0"]);
  });

  it("refuse frames that are damaged, of another cluster or of another replica", async () => {
    const damaging = (packet: { bytes: Uint8Array }, deliver: () => void) => {
      packet.bytes[60] = 200;
      deliver();
    };
    const { buses, refused, got } = connect();
    buses[0]?.send(1, frameOf({ cluster: 8n }));
    buses[0]?.send(1, frameOf({ replica: 2 }));
    await settled();
    const harmed = connect({ network: damaging });
    harmed.buses[0]?.send(1, frameOf());
    const invalid = ErrorCode.ReplicaFrameInvalid;
    assert.deepEqual(refused, [
      [invalid, "other_cluster"],
      [invalid, "other_replica"],
    ]);
    assert.deepEqual(harmed.refused, [[invalid, "unknown_kind"]]);
    assert.deepEqual([...got, ...harmed.got], []);
  });

  it("drop what is sent over a link that is cut or to themselves, and tell both ends of a cut once", async () => {
    const { buses, setLink, got } = connect();
    let done = 0;
    const send = (to: number) => buses[0]?.send(to, frameOf(), () => done++);
    assert.equal(send(0), false);
    setLink(1, 0, false);
    setLink(0, 1, false);
    assert.deepEqual([send(1), buses[1]?.isUp(0), buses[0]?.isUp(2)], [false, false, true]);
    setLink(0, 1, true);
    assert.equal(send(1), true);
    await settled();
    assert.equal(done, 3);
    await buses[0]?.close();
    const ends = ["0 lost 1", "1 lost 0", "0 lost 2", "2 lost 0"];
    assert.deepEqual(got, ["1 lost 0", "0 lost 1", "0 has 1", "1 has 0", "1 hears 1 of 0", ...ends]);
    assert.equal(send(2), false);
  });
});
