import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { PollMessages } from "@millrace/protocol";
import { newWriter, smallCluster } from "../testing/small-cluster.ts";
import { sendBody } from "../testing/test-batches.ts";
import { pollBody, polled } from "../testing/test-polls.ts";

const NODES = [0, 1, 2] as const;
const KEY = new Uint8Array(32).fill(9);

describe("Nodes that encrypt what they store", () => {
  it("find messages by offset and by time, in files and in memory, whoever led when.", async () => {
    const { cluster, client, primary, backups } = await smallCluster(1, { key: KEY });
    const times: bigint[] = [];
    const send = async (from: typeof client, ...texts: string[]) => {
      await cluster.clock.run(100);
      // Skews are 0 here: all nodes have the time of the clock.
      times.push(BigInt(cluster.clock.wallMicros()));
      await cluster.drive(from.ok("SendMessages", sendBody(texts)));
    };
    await send(client, "0", "1", "2");
    await send(client, "3");
    cluster.passes = ({ from, to }) => from !== primary && to !== primary;
    const next = await newWriter(cluster, backups);
    await send(next.client, "4", "5", "6");
    cluster.passes = () => true;
    await cluster.until(() => cluster.groupNow(primary, 0)?.partition?.committedNextOffset === 7);
    for (const at of backups) cluster.kill(at);
    await cluster.startNode(backups[0]);
    const again = await newWriter(cluster, [primary, backups[0]]);
    await send(again.client, "7", "8");
    await cluster.startNode(backups[1]);
    const late = BigInt(cluster.clock.wallMicros()) + 10_000_000n;
    const [first = 0n, second = 0n, third = 0n, fourth = 0n] = times;
    const cases: [PollMessages["strategy"], number, string][] = [
      [{ kind: "offset", offset: 1n }, 1, "1"],
      [{ kind: "offset", offset: 2n }, 4, "2345"],
      [{ kind: "offset", offset: 5n }, 3, "567"],
      [{ kind: "offset", offset: 8n }, 9, "8"],
      [{ kind: "last" }, 3, "678"],
      [{ kind: "timestamp", micros: first }, 100, "012345678"],
      [{ kind: "timestamp", micros: second }, 2, "34"],
      [{ kind: "timestamp", micros: third }, 2, "45"],
      [{ kind: "timestamp", micros: fourth }, 9, "78"],
      [{ kind: "timestamp", micros: late }, 9, ""],
    ];
    for (const at of NODES) {
      await cluster.until(() => cluster.groupNow(at, 0)?.partition?.committedNextOffset === 9);
      const reader = await cluster.login(at, BigInt(100 + at));
      for (const [strategy, count, expected] of cases) {
        const body = pollBody({ strategy, count });
        const { messages } = polled(await cluster.drive(reader.ok("PollMessages", body)));
        const where = `${JSON.stringify(strategy, (_, one) => String(one))} on ${at}`;
        assert.equal(messages.map(({ text }) => text).join(""), expected, where);
      }
      reader.close();
    }
    await cluster.stop();
  });
});
