import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ErrorCode, InvariantError, isCodedError } from "@millrace/errors";
import {
  type GroupAddress,
  isWireError,
  openReplicaFrame,
  ReplicaCommand,
  sealReplicaFrame,
  xxh3_64,
} from "@millrace/framing";
import { SeededRandom } from "@millrace/testkit";
import fc from "fast-check";
import type { GroupStanding } from "../cluster/group-standing.ts";
import { PREPARE_RECORD_LENGTH, PREPARE_RECORDS_MAX, type PrepareRecord } from "./prepare-record.ts";
import { decodeReplicaMessage, encodeReplicaMessage, type ReplicaMessage } from "./replica-message.ts";
import { STATE_CHUNK_LENGTH_MAX } from "./state-chunk.ts";
import { VOUCHED_SESSIONS_MAX } from "./vouch.ts";

const hash = { hashBytes: xxh3_64 };
const REPLICA = 2;
const PLAIN = { noNullPrototype: true } as const;

const u8 = fc.integer({ min: 0, max: 0xff });
const u32 = fc.integer({ min: 0, max: 0xffff_ffff });
const counter = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
const u64 = fc.bigInt({ min: 0n, max: (1n << 64n) - 1n });
const u128 = fc.bigInt({ min: 0n, max: (1n << 128n) - 1n });
const bytes = fc.uint8Array({ maxLength: 300 });
const replica = fc.constant(REPLICA);
const record = <T>(shape: { [Key in keyof T]: fc.Arbitrary<T[Key]> }) => fc.record<T>(shape, PLAIN);

const fields = {
  view: u32,
  op: counter,
  parent: u128,
  checksum: u128,
  client: u128,
  bodyChecksum: u128,
  session: counter,
  request: u64,
  timestamp: counter,
  commit: counter,
  user: u32,
  operation: u8,
  replica: u8,
};
const prepareRecord: fc.Arbitrary<PrepareRecord> = record(fields);
const headers = fc.array(prepareRecord, { maxLength: 5 });
const partitionAddress = record({ streamId: u32, topicId: u32, partitionId: u32, revision: counter });
const partitionKey = record({ streamId: u32, topicId: u32, partitionId: u32 });
const standing = record({
  status: fc.constantFrom("normal", "view-change", "recovering", "silent" as const),
  view: u32,
  op: counter,
  commit: counter,
}) as fc.Arbitrary<GroupStanding>;
const part = record({ name: fc.string({ minLength: 1, maxLength: 60 }), length: counter, checksum: u128 });

/** Every message there is; a kind without an entry does not compile. */
const ANY: { [Kind in ReplicaMessage["kind"]]: fc.Arbitrary<Extract<ReplicaMessage, { kind: Kind }>> } = {
  prepare: record({
    kind: fc.constant("prepare" as const),
    view: u32,
    prepare: record({ ...fields, body: bytes }),
  }),
  prepareOk: record({
    kind: fc.constant("prepareOk" as const),
    view: u32,
    op: counter,
    prepareChecksum: u128,
    replica,
  }),
  commit: record({ kind: fc.constant("commit" as const), view: u32, commit: counter, commitChecksum: u128 }),
  startViewChange: record({
    kind: fc.constant("startViewChange" as const),
    view: u32,
    replica,
    agreed: fc.boolean(),
  }),
  doViewChange: record({
    kind: fc.constant("doViewChange" as const),
    view: u32,
    replica,
    logView: u32,
    op: counter,
    commit: counter,
    commitChecksum: u128,
    headers,
    mayHaveLost: fc.boolean(),
  }),
  startView: record({
    kind: fc.constant("startView" as const),
    view: u32,
    op: counter,
    commit: counter,
    commitChecksum: u128,
    headers,
    nonce: counter,
  }),
  requestStartView: record({
    kind: fc.constant("requestStartView" as const),
    view: u32,
    replica,
    nonce: counter,
    wantsViews: fc.boolean(),
  }),
  viewNumber: record({ kind: fc.constant("viewNumber" as const), view: u32, replica, nonce: counter }),
  requestPrepare: record({
    kind: fc.constant("requestPrepare" as const),
    view: u32,
    replica,
    op: counter,
    prepareChecksum: u128,
  }),
  prepareGone: record({ kind: fc.constant("prepareGone" as const), view: u32, replica, op: counter }),
  askToLead: record({ kind: fc.constant("askToLead" as const), view: u32, replica, op: counter }),
  formation: record({
    kind: fc.constant("formation" as const),
    view: u32,
    replica,
    starts: fc.array(counter, { maxLength: 7 }),
  }),
  vouch: record({
    kind: fc.constant("vouch" as const),
    view: u32,
    replica,
    sessions: fc.array(record({ client: u128, session: counter }), { maxLength: 7 }),
  }),
  commits: record({
    kind: fc.constant("commits" as const),
    view: u32,
    replica,
    commits: fc.array(
      record({ partition: partitionAddress, view: u32, commit: counter, commitChecksum: u128 }),
      { maxLength: 7 },
    ),
  }),
  standingsRequest: record({
    kind: fc.constant("standingsRequest" as const),
    view: u32,
    replica,
    forward: counter,
    range: fc.option(record({ first: partitionKey, last: partitionKey }), { nil: undefined }),
  }),
  standingsReply: record({
    kind: fc.constant("standingsReply" as const),
    view: u32,
    replica,
    forward: counter,
    metadata: standing,
    partitions: fc.array(
      fc.tuple(partitionKey, standing).map(([key, one]) => ({ ...key, standing: one })),
      { maxLength: 7 },
    ),
  }),
  stateRequest: record({
    kind: fc.constant("stateRequest" as const),
    view: u32,
    replica,
    transfer: u32,
    op: counter,
  }),
  stateManifest: record({
    kind: fc.constant("stateManifest" as const),
    view: u32,
    replica,
    transfer: u32,
    op: counter,
    checksum: u128,
    parts: fc.array(part, { maxLength: 5 }),
  }),
  stateChunkRequest: record({
    kind: fc.constant("stateChunkRequest" as const),
    view: u32,
    replica,
    transfer: u32,
    part: u32,
    position: counter,
  }),
  stateChunk: record({
    kind: fc.constant("stateChunk" as const),
    view: u32,
    replica,
    transfer: u32,
    part: u32,
    position: counter,
    bytes: fc.uint8Array({ minLength: 1, maxLength: 300 }),
  }),
  stateEnd: record({ kind: fc.constant("stateEnd" as const), view: u32, replica, transfer: u32, code: u32 }),
  forwardedRequest: record({
    kind: fc.constant("forwardedRequest" as const),
    view: u32,
    replica,
    forward: counter,
    client: u128,
    session: counter,
    request: u64,
    operation: u8,
    user: u32,
    bodyChecksum: u128,
    body: bytes,
  }),
  forwardedReply: record({
    kind: fc.constant("forwardedReply" as const),
    view: u32,
    replica,
    forward: counter,
    outcome: fc.constantFrom(0, 1, 2),
    code: u32,
    op: counter,
    commit: counter,
    timestamp: counter,
    operation: u8,
    body: bytes,
  }),
};
const anyMessage = fc.oneof(...(Object.values(ANY) as fc.Arbitrary<ReplicaMessage>[]));
const partition = record({ streamId: u32, topicId: u32, partitionId: u32, revision: counter });
const anyGroup: fc.Arbitrary<GroupAddress> = fc.oneof(
  fc.constant<GroupAddress>({ kind: "metadata" }),
  partition.map((one): GroupAddress => ({ kind: "partition", partition: one })),
);

function frameOf(message: ReplicaMessage, group: GroupAddress = { kind: "metadata" }): Uint8Array {
  const parts = encodeReplicaMessage({ hash, cluster: 5n, replica: REPLICA, group }, message);
  return Uint8Array.from(parts.flatMap((one) => [...one]));
}

const decode = (frame: Uint8Array) => decodeReplicaMessage(openReplicaFrame(hash, frame));

/** A frame with these fields, sealed by a peer that has a mistake or means harm. */
function hostile(
  command: ReplicaCommand,
  given: Uint8Array,
  payload: Uint8Array = new Uint8Array(0),
): Uint8Array {
  const group = { kind: "metadata" } as const;
  const frame = { command, cluster: 5n, view: 1, replica: REPLICA, group, fields: given, payload };
  return Uint8Array.from(sealReplicaFrame(hash, frame).flatMap((one) => [...one]));
}

const isRefused = (reason: string) => (error: unknown) =>
  isCodedError(error, ErrorCode.ReplicaFrameInvalid) && error.details["reason"] === reason;

const prepareOk = { kind: "prepareOk", view: 1, op: 2, prepareChecksum: 3n, replica: REPLICA } as const;
const oneRecord: PrepareRecord = {
  view: 1,
  op: 2,
  parent: 3n,
  checksum: 4n,
  client: 5n,
  bodyChecksum: 6n,
  session: 7,
  request: 8n,
  timestamp: 9,
  commit: 10,
  user: 11,
  operation: 12,
  replica: 13,
};
const startView = { kind: "startView", view: 1, op: 2, commit: 3, commitChecksum: 4n, nonce: 5 } as const;
const chunk = { kind: "stateChunk", view: 0, replica: REPLICA, transfer: 1, part: 2, position: 3 } as const;

describe("messages between replicas", () => {
  it("are read as they were written, whatever they hold and whichever group they are about", () => {
    fc.assert(
      fc.property(anyMessage, anyGroup, (message, group) => {
        assert.deepEqual(decode(frameOf(message, group)), { group, message });
      }),
      { numRuns: 500 },
    );
  });

  it("hold no more than their bounds", () => {
    const most = Array.from({ length: PREPARE_RECORDS_MAX }, () => oneRecord);
    const { message } = decode(frameOf({ ...startView, headers: most }));
    assert.equal(message.kind === "startView" && message.headers.length, PREPARE_RECORDS_MAX);
    const tooMany = { ...startView, headers: [...most, oneRecord] };
    assert.throws(
      () => frameOf(tooMany),
      (error) => isWireError(error, "too_many"),
    );
    const vouch = (count: number) => {
      const sessions = Array.from({ length: count }, (_, at) => ({ client: BigInt(at), session: at }));
      return frameOf({ kind: "vouch", view: 1, replica: REPLICA, sessions });
    };
    assert.equal(vouch(VOUCHED_SESSIONS_MAX).length, 160 + 4 + 24 * VOUCHED_SESSIONS_MAX);
    assert.throws(
      () => vouch(VOUCHED_SESSIONS_MAX + 1),
      (error) => isWireError(error, "too_many"),
    );
    const longest = new Uint8Array(STATE_CHUNK_LENGTH_MAX);
    assert.equal(frameOf({ ...chunk, bytes: longest }).length, 256 + STATE_CHUNK_LENGTH_MAX);
    for (const length of [0, STATE_CHUNK_LENGTH_MAX + 1]) {
      const wrong = { ...chunk, bytes: new Uint8Array(length) };
      assert.throws(
        () => frameOf(wrong),
        (error) => isWireError(error, "bad_length"),
      );
    }
  });

  it("are refused with a count that lies, also when there are bytes enough for it", () => {
    const fixed = 8 + 8 + 16 + 8;
    const given = new Uint8Array(fixed + 4 + (PREPARE_RECORDS_MAX + 1) * PREPARE_RECORD_LENGTH);
    const view = new DataView(given.buffer);
    for (const [count, reason] of [
      [PREPARE_RECORDS_MAX + 1, "too_many"],
      [0xffff_ffff, "too_many"],
      [PREPARE_RECORDS_MAX, "trailing_bytes"],
    ] as const) {
      view.setUint32(fixed, count, true);
      assert.throws(() => decode(hostile(ReplicaCommand.startView, given)), isRefused(reason), reason);
    }
    view.setUint32(fixed, 2, true);
    const short = hostile(ReplicaCommand.startView, given.subarray(0, fixed + 4 + PREPARE_RECORD_LENGTH));
    assert.throws(() => decode(short), isRefused("unexpected_end"));
  });

  it("are refused with values that nobody writes", () => {
    const above2To53 = new Uint8Array(24).fill(0xff);
    const cases: readonly (readonly [ReplicaCommand, Uint8Array, string])[] = [
      [ReplicaCommand.prepareOk, above2To53, "bad_value"],
      [ReplicaCommand.prepareOk, new Uint8Array(30).fill(1, 24), "trailing_bytes"],
      [ReplicaCommand.startViewChange, Uint8Array.of(2), "bad_value"],
      [ReplicaCommand.prepare, new Uint8Array(128).fill(1, 127), "reserved_not_zero"],
      [ReplicaCommand.prepare, new Uint8Array(129), "trailing_bytes"],
      [ReplicaCommand.stateManifest, new Uint8Array(96).fill(1, 28, 29), "empty_name"],
      [ReplicaCommand.stateChunk, new Uint8Array(16), "bad_length"],
      [ReplicaCommand.forwardedReply, new Uint8Array(40).fill(3, 36, 37), "unknown_kind"],
      [ReplicaCommand.ping, new Uint8Array(0), "unknown_kind"],
    ];
    for (const [command, given, reason] of cases) {
      assert.throws(() => decode(hostile(command, given)), isRefused(reason), `${command} ${reason}`);
    }
  });

  it("are refused without a group, and with a payload where none belongs", () => {
    const opened = openReplicaFrame(hash, frameOf(prepareOk));
    assert.throws(() => decodeReplicaMessage({ ...opened, group: undefined }), isRefused("unknown_kind"));
    const loaded = hostile(ReplicaCommand.prepareOk, new Uint8Array(24), Uint8Array.of(1));
    assert.throws(() => decode(loaded), isRefused("trailing_bytes"));
  });

  it("of any bytes are understood or refused by code, and what is understood is written the same way", () => {
    const random = new SeededRandom(11);
    const commands = Object.values(ReplicaCommand);
    let understood = 0;
    for (let round = 0; round < 1500; round++) {
      const given = random.bytes(random.below(400)).fill(0, 0, random.below(100));
      const frame = hostile(random.pick(commands), given, random.bytes(random.below(3)));
      try {
        const { group, message } = decode(frame);
        assert.deepEqual(frameOf(message, group), frame);
        understood++;
      } catch (error) {
        assert.ok(isCodedError(error, ErrorCode.ReplicaFrameInvalid), String(error));
      }
    }
    assert.ok(understood > 0);
  });

  it("are sent by nobody in another's name", () => {
    assert.throws(() => frameOf({ ...prepareOk, replica: REPLICA + 1 }), InvariantError);
  });
});
