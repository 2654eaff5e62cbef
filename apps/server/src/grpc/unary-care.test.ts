import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { status } from "@grpc/grpc-js";
import { ErrorCode } from "@millrace/errors";
import { GrpcUnderTest } from "../testing/grpc-under-test.ts";

const TOPIC = { stream: { name: "s" }, topic: { name: "t" } };
const PLACE = { ...TOPIC, partition_id: 0 };
/** A byte of the first batch's payload, behind its header of 256 bytes and that of its frame. */
const IN_FIRST_BATCH = 330;

/** Runs a server on that folder; root is logged in. */
async function onFolder(folder: string, body: (server: GrpcUnderTest) => Promise<void>): Promise<void> {
  const server = await GrpcUnderTest.start({ PATH: folder });
  try {
    await server.login();
    await body(server);
  } finally {
    await server.stop();
  }
}

async function sendSome(server: GrpcUnderTest): Promise<void> {
  for (let number = 0; number < 5; number++) {
    const messages = [{ payload: Buffer.from(`a text of some length, number ${number}`) }];
    await server.call("SendMessages", { ...TOPIC, messages });
  }
}

/** Answers of a verification in steps of one byte, each of which ends with the batch or record it began. */
async function stepsOver(server: GrpcUnderTest): Promise<{ batches: string }[]> {
  const steps = [];
  for (let from: unknown = {}; from !== null; from = steps.at(-1).next) {
    steps.push(await server.call("VerifyPartition", { ...PLACE, from, length_max: 1 }));
  }
  return steps;
}

/** Changes a byte of the only `.log` below the folder. */
async function damage(folder: string): Promise<void> {
  const names = await readdir(folder, { recursive: true });
  const log = names.find((name) => name.endsWith(".log"));
  assert.ok(log !== undefined, "there is a log");
  const bytes = await readFile(join(folder, log));
  bytes.writeUInt8(bytes.readUInt8(IN_FIRST_BATCH) ^ 1, IN_FIRST_BATCH);
  await writeFile(join(folder, log), bytes);
}

test("a stock client verifies a partition in steps, and repairs one that damage stopped", async () => {
  const folder = await mkdtemp(join(tmpdir(), "millrace-grpc-care-"));
  await onFolder(folder, async (server) => {
    await server.makeTopic();
    await sendSome(server);
    const whole = await server.call("VerifyPartition", PLACE);
    assert.deepEqual([whole.batches, whole.messages, whole.damages, whole.fault], ["5", "5", [], ""]);
    const steps = await stepsOver(server);
    assert.ok(steps.length > 1, "a short step is not the whole");
    const batches = steps.reduce((sum, step) => sum + Number(step.batches), 0);
    assert.equal(batches, 5, "no batch is looked at twice, or not at all");
    assert.equal((await server.call("RepairPartition", PLACE)).outcome, "REPAIR_OUTCOME_HEALTHY");
  });
  await damage(folder);
  await onFolder(folder, async (server) => {
    const refused = await server.refusal("SendMessages", { ...TOPIC, messages: [{ payload: "eA==" }] });
    assert.equal(refused.code, ErrorCode.PartitionDamaged);
    const { damages, fault } = await server.call("VerifyPartition", PLACE);
    assert.notEqual(fault, "");
    assert.deepEqual([damages.length, damages[0].kind, damages[0].offset], [1, "DAMAGE_KIND_BATCH", "0"]);
    assert.match(damages[0].path, /\.log$/);
    const repaired = await server.call("RepairPartition", { ...PLACE, offsets: "REPAIRED_OFFSETS_PROVEN" });
    assert.deepEqual([repaired.outcome, repaired.next_offset], ["REPAIR_OUTCOME_REPAIRED", "5"]);
    assert.equal(repaired.offsets, "REPAIRED_OFFSETS_PROVEN");
    assert.match(repaired.damage, /\.log/);
    const sent = await server.call("SendMessages", { ...TOPIC, messages: [{ payload: "eA==" }] });
    assert.equal(sent.base_offset, "5");
  });
  await rm(folder, { recursive: true });
});

test("a stock client sees what retention keeps, and for whom", async () => {
  const folder = await mkdtemp(join(tmpdir(), "millrace-grpc-care-"));
  await onFolder(folder, async (server) => {
    await server.makeTopic(3);
    await sendSome(server);
    const all = await server.call("GetTopicRetention", TOPIC);
    assert.equal(all.is_cleaner_enabled, true);
    assert.ok(BigInt(all.cleaner_interval) > 0n);
    assert.equal(all.partition_budget, "18446744073709551615");
    assert.deepEqual(
      all.partitions.map(({ partition_id }: { partition_id: number }) => partition_id),
      [0, 1, 2],
    );
    const [{ sealed, held_back, fault_code, holders }] = all.partitions;
    assert.deepEqual([fault_code, holders], [0, []]);
    assert.deepEqual(sealed, { segments_count: 0, messages_count: "0", byte_length: "0" });
    assert.deepEqual(held_back, sealed);
    const page = { ...TOPIC, first_partition_id: 1, partitions_count: 1 };
    const { partitions } = await server.call("GetTopicRetention", page);
    assert.deepEqual([partitions.length, partitions[0].partition_id], [1, 1]);
  });
  await rm(folder, { recursive: true });
});

test("what looks at files and retention needs the rights it has elsewhere, and things that are there", async () => {
  const folder = await mkdtemp(join(tmpdir(), "millrace-grpc-care-"));
  await onFolder(folder, async (server) => {
    await server.makeTopic();
    const permissions = { global: { read_topics: true } };
    await server.call("CreateUser", { username: "reader", password: "reader-pw", permissions });
    const { token } = await server.call("Login", { username: "reader", password: "reader-pw" });
    assert.equal((await server.call("GetTopicRetention", TOPIC, { token })).partitions.length, 1);
    for (const name of ["VerifyPartition", "RepairPartition"]) {
      const denied = await server.refusal(name, PLACE, { token });
      assert.deepEqual(
        [denied.status, denied.code],
        [status.PERMISSION_DENIED, ErrorCode.Unauthorized],
        name,
      );
      const absent = await server.refusal(name, { ...PLACE, partition_id: 9 });
      assert.deepEqual([absent.status, absent.code], [status.NOT_FOUND, ErrorCode.PartitionNotFound], name);
    }
    const none = await server.call("CreateUser", { username: "nobody", password: "nobody-pw" });
    assert.equal(none.user.username, "nobody");
    const nobody = await server.call("Login", { username: "nobody", password: "nobody-pw" });
    const unseen = await server.refusal("GetTopicRetention", TOPIC, { token: nobody.token });
    assert.equal(unseen.code, ErrorCode.Unauthorized);
    const flush = await server.refusal("FlushUnsavedBuffer", { ...PLACE, fsync: true });
    assert.deepEqual([flush.status, flush.code], [status.UNIMPLEMENTED, ErrorCode.FeatureUnavailable]);
    const stranger = await server.refusal("FlushUnsavedBuffer", PLACE, { token: "" });
    assert.equal(stranger.status, status.UNAUTHENTICATED);
    const far = { segment: "18446744073709551615" };
    const nowhere = await server.refusal("VerifyPartition", { ...PLACE, from: far });
    assert.deepEqual([nowhere.status, nowhere.code], [status.INVALID_ARGUMENT, ErrorCode.InvalidCommand]);
    const unnamed = await server.refusal("RepairPartition", { ...PLACE, offsets: 9 });
    assert.deepEqual([unnamed.status, unnamed.code], [status.INVALID_ARGUMENT, ErrorCode.InvalidCommand]);
  });
  await rm(folder, { recursive: true });
});
