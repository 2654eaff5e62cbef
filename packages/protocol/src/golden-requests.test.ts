import assert from "node:assert/strict";
import { test } from "node:test";
import { BATCH_HEADER_LENGTH } from "@millrace/framing";
import { fromHex, goldenCases, toHex } from "@millrace/testkit";
import { ALL_CODECS } from "./all-codecs.compliance.ts";
import { commandByCode } from "./command.ts";
import {
  goldenConsumer,
  goldenOptions,
  goldenPartitioning,
  goldenPermissions,
  goldenStrategy,
  goldenIdentifier as id,
} from "./golden-values.compliance.ts";

// biome-ignore lint/suspicious/noExplicitAny: the shape of golden inputs differs by command.
type Input = any;

const topicOf = (input: Input) => ({ stream: id(input.stream), topic: id(input.topic) });
const targetOf = (input: Input) => ({
  consumer: goldenConsumer(input.consumer),
  ...topicOf(input),
  partitionId: input.partition ?? undefined,
});
const ackOf = (input: Input) => (input.ack === 1 ? "quorum" : "none");
const statusOf = (status: number | null) =>
  status === null ? undefined : status === 2 ? "inactive" : "active";

/** The value that a golden input describes, by command code. */
const VALUES: Readonly<Record<number, (input: Input) => unknown>> = {
  11: () => ({ compression: "deflated", types: ["all"] }),
  13: () => ({ scope: "topic" }),
  21: (input) => ({ clientId: input.client_id }),
  33: (input) => ({
    username: input.username,
    password: input.password,
    status: statusOf(input.status),
    permissions: goldenPermissions(input.permissions),
    options: [],
  }),
  35: (input) => ({
    user: id(input.user),
    username: input.username ?? undefined,
    status: statusOf(input.status),
    options: [],
  }),
  36: (input) => ({ user: id(input.user), permissions: goldenPermissions(input.permissions) }),
  37: (input) => ({ user: id(input.user), currentPassword: input.current, newPassword: input.new }),
  42: (input) => ({ name: input.name, expiryMicros: BigInt(input.expiry_micros) }),
  43: (input) => ({ name: input.name }),
  100: (input) => ({
    ...targetOf(input),
    strategy: goldenStrategy(input.strategy),
    count: input.count,
    autoCommit: input.auto_commit,
  }),
  101: (input) => ({
    ...topicOf(input),
    partitioning: goldenPartitioning(input.partitioning),
    messagesCount: input.messages.length,
  }),
  102: (input) => ({ ...topicOf(input), partitionId: input.partition, fsync: input.fsync }),
  120: targetOf,
  121: (input) => ({ ...targetOf(input), offset: BigInt(input.offset), ack: ackOf(input) }),
  122: (input) => ({ ...targetOf(input), ack: ackOf(input) }),
  200: (input) => ({ stream: id(input.stream) }),
  202: (input) => ({ name: input.name, options: [] }),
  204: (input) => ({ stream: id(input.stream), name: input.name, options: [] }),
  300: topicOf,
  302: (input) => ({
    stream: id(input.stream),
    partitionsCount: input.partitions_count,
    name: input.name,
    options: goldenOptions(input.options),
  }),
  304: (input) => ({ ...topicOf(input), name: input.name, options: goldenOptions(input.options) }),
  402: (input) => ({ ...topicOf(input), partitionsCount: input.count }),
  503: (input) => ({ ...topicOf(input), partitionId: input.partition, segmentsCount: input.count }),
  602: (input) => ({ ...topicOf(input), name: input.name }),
  604: (input) => ({ ...topicOf(input), group: id(input.group) }),
};

for (const one of goldenCases("request_body")) {
  test(`${one.name} is written and read as recorded`, () => {
    const command = commandByCode(one.input.code);
    const codec = command && ALL_CODECS[command.name].request;
    assert.ok(codec !== undefined);
    const body = fromHex(one.expected_hex ?? "");
    const value = VALUES[one.input.code]?.(one.input);
    const encoded = codec.encode(value);
    assert.equal(toHex(encoded), toHex(body.subarray(0, encoded.length)));

    const decoded = codec.decode(body);
    const batchPosition = command?.name === "SendMessages" ? { batchPosition: encoded.length } : {};
    assert.deepEqual(decoded, { ...(value as object), ...batchPosition });
    if (command?.name === "SendMessages") assert.ok(body.length - encoded.length > BATCH_HEADER_LENGTH);
    else assert.equal(encoded.length, body.length);
  });
}
