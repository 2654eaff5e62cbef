import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { SimClock } from "@millrace/platform/sim";
import type { Replica, ViewCause } from "@millrace/vsr";
import { type Line, recordedLog } from "../testing/recorded.ts";
import { TestCluster } from "../testing/test-cluster.ts";
import { createSmallTopic } from "../testing/test-topics.ts";
import { ViewLines } from "./view-lines.ts";

/** What is looked at of a replica of three. */
function standing(view: number, viewCause: ViewCause = "peers", status = "normal"): Replica {
  return { status, view, primary: view % 3, viewCause } as unknown as Replica;
}

function setUp() {
  const clock = new SimClock();
  const lines: Line[] = [];
  const changed: string[] = [];
  const views = new ViewLines({
    ...{ clock, log: recordedLog(lines), replica: 1 },
    changed: ({ group }) => changed.push(group),
  });
  return { clock, lines, changed, views };
}

describe("The lines of a node about views that begin", () => {
  it("say who leads which group, since which view, and why.", async () => {
    const { clock, lines, changed, views } = setUp();
    const [metadata, partition] = [{}, {}];
    views.look(metadata, standing(0), () => "metadata");
    views.look(partition, standing(0), () => "1/2/0");
    await clock.run(1000);
    views.look(metadata, standing(1, "primary-silent", "view-change"), () => "metadata");
    views.look(metadata, standing(1, "primary-silent"), () => "metadata");
    views.look(partition, standing(2), () => "1/2/0");
    await clock.run(1000);
    assert.deepEqual(
      lines.map(({ message }) => message),
      [
        "Node 0 leads the metadata now.",
        "This node, 1, leads the metadata now.",
        "Node 2 leads partition 1/2/0 now.",
      ],
    );
    const { view, viewBefore, because } = (lines[1]?.facts ?? {}) as Record<string, unknown>;
    assert.deepEqual([view, viewBefore], [1, 0]);
    assert.match(String(because), /not heard/u);
    assert.deepEqual(changed, ["metadata", "1/2/0"]);
  });

  it("are one per node that leads, with the count, when many groups change at once.", async () => {
    const { clock, lines, views } = setUp();
    const groups = Array.from({ length: 1000 }, () => ({}));
    for (const group of groups) views.look(group, standing(0), () => "x");
    for (const [at, group] of groups.entries())
      views.look(group, standing(at < 600 ? 1 : 2), () => `1/1/${at}`);
    await clock.run(2000);
    assert.deepEqual(
      lines.map(({ message, facts }) => [message, facts["partitions"], facts["first"]]),
      [
        ["This node, 1, leads 600 partitions now.", 600, "1/1/0"],
        ["Node 2 leads 400 partitions now.", 400, "1/1/600"],
      ],
    );
  });

  it("tell of an election in a cluster.", async () => {
    const lines: Line[] = [];
    const cluster = await TestCluster.start(3, { log: recordedLog(lines) });
    const leader = await cluster.metadataPrimary();
    const client = await cluster.login(leader);
    await cluster.drive(createSmallTopic(client));
    await cluster.clock.run(2000);
    lines.length = 0;
    cluster.kill(leader);
    const next = await cluster.metadataPrimary();
    await cluster.clock.run(5000);
    const said = (text: string) => lines.filter(({ message }) => message === text).length;
    assert.equal(said(`This node, ${next}, leads the metadata now.`), 1);
    assert.equal(said(`Node ${next} leads the metadata now.`), 1);
    await cluster.stop();
  });
});
