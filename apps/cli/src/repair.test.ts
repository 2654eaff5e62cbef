import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeClient } from "./fakes/fake-client.ts";
import { runFake } from "./fakes/fake-world.ts";

const PLACE = ["shop", "orders"];

test("a repair says from where on the partition takes writes, and asks when stored offsets are in doubt", async () => {
  const client = new FakeClient();
  const repair = (...more: string[]) =>
    runFake(["partition", "repair", ...PLACE, "1", ...more], { client: client.asClient() });
  assert.match((await repair()).stdout, /takes writes; there is nothing to repair/);
  client.repairReply = { outcome: "repaired", offsets: "known", nextOffset: 40, damage: "Bytes in 0.log." };
  const repaired = await repair("--offsets", "known", "--output", "json");
  assert.deepEqual(JSON.parse(repaired.stdout), {
    outcome: "repaired",
    next_offset: 40,
    damage: "Bytes in 0.log.",
    offsets: "known",
  });
  client.repairReply = { outcome: "offsets-in-doubt", offsets: "proven", nextOffset: 4, damage: "Bytes." };
  const asked = await repair();
  assert.notEqual(asked.exitCode, 0);
  assert.match(asked.stderr, /partition repair .* --offsets known/);
  assert.deepEqual(
    client.calls.filter(([name]) => name === "repairPartition").map(([, place]) => place),
    [undefined, "known", undefined].map((offsets) => ({
      ...{ stream: "shop", topic: "orders", partitionId: 1 },
      ...(offsets === undefined ? {} : { offsets }),
    })),
  );
});

test("a repair in a cluster is asked about until it has ended, on the node that is named", async () => {
  const client = new FakeClient();
  const damage = "A batch of 0.log is damaged.";
  const reply = { offsets: "proven", nextOffset: 9 } as const;
  client.repairReplies.push({ ...reply, outcome: "under-way", damage: "" });
  client.repairReplies.push({ ...reply, outcome: "under-way", damage });
  client.repairReplies.push({ ...reply, outcome: "fetched", damage });
  const stays: unknown[] = [];
  const { stdout, stderr, exitCode } = await runFake(["partition", "repair", ...PLACE, "1"], {
    connect: async ({ target }) => {
      stays.push(target.client.followLeader);
      return client.asClient();
    },
  });
  assert.equal(exitCode, 0);
  assert.match(stderr, /looks for damage.*\n.*asked for what is damaged: A batch of 0\.log/);
  assert.match(stdout, /has on this node what the others have\. Damaged was: A batch of 0\.log/);
  assert.deepEqual(stays, [false]);
});
