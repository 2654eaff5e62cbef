import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ReplicaCommand } from "@millrace/framing";
import type { Packet } from "@millrace/platform/sim";
import { sendBody } from "../../testing/test-batches.ts";
import { Lagging } from "../state-transfer/transfer-fixture.test.ts";

/** Sends that the node misses: several rounds of repair. */
const MISSED = 600;
/** Milliseconds each way, so that to catch up takes a while. */
const DELAY_MS = 5;
/** Milliseconds between two sends of a client that writes steadily. */
const BETWEEN_SENDS_MS = 4;
/** One of so many messages is lost. */
const LOST_EACH = 47;
/** From here on a node is near, see `LaggingPeers`; and the round that it has asked for by then. */
const NEAR_OPS = 128 + 128;

/** Places in a frame, see docs/spec/replica-messages.md. */
const AT = { command: 60, group: 140, fields: 160, opOfRecord: 64 };

function isOfPartition({ bytes }: Packet, command: number): boolean {
  return bytes[AT.command] === command && bytes[AT.group] === 2;
}

function opAt({ bytes }: Packet, position: number): number {
  return Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(position, true));
}

/** A node that missed many sends and hears the others again; what the primary sends it is looked at. */
async function far(options: Parameters<typeof Lagging.start>[0] = {}) {
  const lagging = await Lagging.start(options);
  const { cluster, client, at, primary } = lagging;
  const sendSome = async (count: number, text: string) => {
    const sends = Array.from({ length: count }, () => client.ok("SendMessages", sendBody([text])));
    await cluster.drive(Promise.all(sends));
  };
  for (let sent = 0; sent < MISSED; sent += 20) await sendSome(20, "missed");
  const opOf = (node: number) => cluster.groupNow(node, 0)?.replica?.op ?? 0;
  const seen = { isAnswered: false, early: 0, bodies: 0, commits: 0 };
  const watch = (packet: Packet) => {
    if (packet.from !== primary || packet.to !== at) return;
    if (packet.bytes[AT.command] === ReplicaCommand.commit) seen.commits += 1;
    if (!isOfPartition(packet, ReplicaCommand.prepare)) return;
    seen.bodies += 1;
    const op = opAt(packet, AT.fields + AT.opOfRecord);
    if (op === opOf(at) + 1) seen.isAnswered = true;
    if (seen.isAnswered && op - opOf(at) > NEAR_OPS) seen.early += 1;
  };
  return { ...lagging, lagging, seen, watch, opOf, sendSome };
}

describe("A node that is far behind", () => {
  it("is sent no new op before it is near, has what the others have then, and takes part.", async () => {
    const { lagging, cluster, client, at, primary, seen, watch, opOf } = await far();
    cluster.passes = (packet) => {
      watch(packet);
      return true;
    };
    cluster.delaysOf = ({ from, to }) => [from === at || to === at ? DELAY_MS : 1];
    let written = 0;
    while (opOf(at) < opOf(primary) - 4 || written < 100) {
      await cluster.drive(client.ok("SendMessages", sendBody(["new"])));
      await cluster.clock.run(BETWEEN_SENDS_MS);
      written += 1;
      assert.ok(written < 3000, "it comes nearer while a client writes");
    }
    assert.ok(seen.isAnswered);
    assert.ok(seen.commits > 0, "it hears how far it has to go");
    assert.equal(seen.early, 0, "bodies that it cannot take");
    await lagging.caughtUp();
    const before = opOf(at);
    cluster.kill(lagging.other);
    await lagging.send("with the one that was behind");
    assert.ok(opOf(at) > before);
    await cluster.startNode(lagging.other);
    await lagging.caughtUp(lagging.other);
    await cluster.stop();
  });

  it("is no hindrance to progress when another node dies that was needed for the quorum.", async () => {
    const { lagging, cluster, client, at, primary, other, opOf, watch, seen } = await far();
    cluster.delaysOf = ({ from, to }) => [from === at || to === at ? DELAY_MS : 1];
    const missing = opOf(primary) - opOf(at);
    cluster.passes = (packet) => {
      watch(packet);
      return true;
    };
    await cluster.until(() => seen.isAnswered && opOf(primary) - opOf(at) < missing / 2);
    cluster.kill(other);
    const startMs = cluster.clock.monotonicMs();
    const answer = await cluster.drive(client.command("SendMessages", sendBody(["needs the one behind"])));
    assert.equal(answer.code, 0);
    assert.ok(cluster.clock.monotonicMs() - startMs < 2000, "in the same view");
    await cluster.until(() => cluster.groupNow(at, 0)?.partition?.committedOp === opOf(primary));
    await cluster.startNode(other);
    await lagging.caughtUp(other);
    await lagging.caughtUp(at);
    await cluster.stop();
  });

  it("comes near, and takes part, when its links lose some of what it says and hears.", async () => {
    const { lagging, cluster, client, at, opOf, primary } = await far({ seed: 3 });
    let packets = 0;
    cluster.passes = ({ from, to }) => {
      packets += 1;
      return (from !== at && to !== at) || packets % LOST_EACH !== 0;
    };
    for (let written = 0; written < 300; written += 1) {
      await cluster.drive(client.ok("SendMessages", sendBody(["new"])));
      await cluster.clock.run(BETWEEN_SENDS_MS);
    }
    await cluster.until(() => opOf(primary) === opOf(at));
    lagging.heal();
    await lagging.caughtUp();
    await cluster.stop();
  });

  it("is not waited for by a new primary, which knows nothing of it.", async () => {
    const { lagging, cluster, at, primary, other, watch, seen } = await far();
    cluster.passes = (packet) => {
      watch(packet);
      return true;
    };
    await cluster.until(() => seen.isAnswered);
    cluster.kill(primary);
    const groups = [other, at].map((node) => cluster.groupNow(node, 0));
    await cluster.until(() => groups.some((group) => group?.isPrimary === true));
    const leader = groups[0]?.isPrimary === true ? other : at;
    const client = await cluster.login(leader, 900n);
    await cluster.drive(client.ok("SendMessages", sendBody(["in the next view"])));
    await cluster.startNode(primary);
    const all = [0, 1, 2].map((node) => () => cluster.groupNow(node, 0)?.partition?.committedOp);
    await cluster.until(() => all.every((opOf) => opOf() === all[leader]?.() && opOf() !== undefined));
    await lagging.caughtUp(at);
    await cluster.stop();
  });
});
