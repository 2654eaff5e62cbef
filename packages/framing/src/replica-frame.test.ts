import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { SeededRandom } from "@millrace/testkit";
import fc from "fast-check";
import { xxh3_64 } from "./checksum/xxh3.ts";
import { HEADER_LENGTH, WireCommand } from "./header-kind.ts";
import {
  type GroupAddress,
  openReplicaFrame,
  ReplicaCommand,
  type ReplicaFrame,
  sealReplicaFrame,
} from "./replica-frame.ts";
import { isWireError, type WireReason } from "./wire-error.ts";

const hash = { hashBytes: xxh3_64 };

/** Where the header says what, see docs/spec/replica-messages.md. */
const AT = {
  length: 48,
  release: 56,
  command: 60,
  reserved: 100,
  groupKind: 140,
  payloadLength: 152,
} as const;

const PLAIN = { noNullPrototype: true } as const;
const U32 = fc.integer({ min: 0, max: 0xffff_ffff });
const anyGroup: fc.Arbitrary<GroupAddress | undefined> = fc.oneof(
  fc.constant(undefined),
  fc.constant<GroupAddress>({ kind: "metadata" }),
  fc.record(
    {
      kind: fc.constant("partition" as const),
      partition: fc.record(
        {
          streamId: U32,
          topicId: U32,
          partitionId: U32,
          revision: fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }),
        },
        PLAIN,
      ),
    },
    PLAIN,
  ),
);
const anyFrame: fc.Arbitrary<ReplicaFrame> = fc.record(
  {
    command: fc.constantFrom(...Object.values(ReplicaCommand)),
    cluster: fc.bigInt({ min: 0n, max: (1n << 128n) - 1n }),
    view: U32,
    replica: fc.integer({ min: 0, max: 255 }),
    group: anyGroup,
    fields: fc.uint8Array({ maxLength: 300 }),
    payload: fc.uint8Array({ maxLength: 300 }),
  },
  PLAIN,
);

const FRAME: ReplicaFrame = {
  command: ReplicaCommand.prepare,
  cluster: 7n,
  view: 3,
  replica: 1,
  group: { kind: "partition", partition: { streamId: 1, topicId: 2, partitionId: 3, revision: 4 } },
  fields: new Uint8Array(128).fill(5),
  payload: new Uint8Array(70).fill(6),
};

function sealed(frame: ReplicaFrame): Uint8Array {
  const parts = sealReplicaFrame(hash, frame);
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}

/** Changes bytes of a good frame and seals it again, as a peer with another opinion would. */
function resealed(frame: ReplicaFrame, change: (bytes: Uint8Array) => void): Uint8Array {
  const bytes = sealed(frame);
  change(bytes);
  const head = bytes.subarray(16, bytes.length - frame.payload.length);
  new DataView(bytes.buffer).setBigUint64(0, xxh3_64(head), true);
  return bytes;
}

const refused = (bytes: Uint8Array, reason: WireReason) =>
  assert.throws(
    () => openReplicaFrame(hash, bytes),
    (error) => isWireError(error, reason),
    reason,
  );

describe("a frame between replicas", () => {
  it("is read as it was written, its fields with zeros up to the header's end", () => {
    fc.assert(
      fc.property(anyFrame, (frame) => {
        const { fields, payload, payloadPosition, ...rest } = openReplicaFrame(hash, sealed(frame));
        const { fields: given, payload: sent, ...header } = frame;
        assert.deepEqual(rest, header);
        assert.deepEqual([...payload], [...sent]);
        assert.equal(payloadPosition, Math.max(HEADER_LENGTH, 160 + given.length));
        assert.deepEqual([...fields.subarray(0, given.length)], [...given]);
        assert.ok(fields.subarray(given.length).every((byte) => byte === 0));
      }),
    );
  });

  it("is refused when any one of its bits is another", () => {
    const bytes = sealed(FRAME);
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      bytes[bit >> 3]! ^= 1 << (bit & 7);
      assert.throws(() => openReplicaFrame(hash, bytes), isWireError, `bit ${bit}`);
      bytes[bit >> 3]! ^= 1 << (bit & 7);
    }
    assert.equal(openReplicaFrame(hash, bytes).view, 3);
  });

  it("is refused when it is cut short or has bytes behind it, wherever", () => {
    const bytes = sealed(FRAME);
    for (let length = 0; length < bytes.length; length++) {
      refused(bytes.subarray(0, length), length < HEADER_LENGTH ? "unexpected_end" : "bad_length");
    }
    refused(Uint8Array.of(...bytes, 0), "bad_length");
  });

  it("is refused for what its header says, whoever has sealed it", () => {
    refused(
      resealed(FRAME, (bytes) => new DataView(bytes.buffer).setUint32(AT.payloadLength, 1e6, true)),
      "bad_length",
    );
    refused(
      resealed(FRAME, (bytes) => {
        bytes[AT.release] = 2;
      }),
      "unknown_kind",
    );
    refused(
      resealed(FRAME, (bytes) => {
        bytes[AT.groupKind] = 3;
      }),
      "unknown_kind",
    );
    refused(
      resealed(FRAME, (bytes) => {
        bytes[AT.groupKind] = 1;
      }),
      "reserved_not_zero",
    );
    for (const at of [AT.reserved, AT.groupKind + 1, AT.payloadLength + 4]) {
      refused(
        resealed(FRAME, (bytes) => {
          bytes[at] = 1;
        }),
        "reserved_not_zero",
      );
    }
    refused(
      resealed(FRAME, (bytes) => {
        bytes.fill(0xff, 144, 152);
      }),
      "bad_value",
    );
  });

  it("is told from a client's frame by its command", () => {
    for (const command of Object.values(WireCommand)) {
      refused(
        resealed(FRAME, (bytes) => {
          bytes[AT.command] = command;
        }),
        "unknown_kind",
      );
    }
  });

  it("is never read from bytes that nobody sealed", () => {
    const random = new SeededRandom(5);
    for (let round = 0; round < 300; round++) {
      const bytes = random.bytes(256 + random.below(200));
      const view = new DataView(bytes.buffer);
      view.setUint32(AT.length, bytes.length, true);
      view.setUint32(AT.release, 1, true);
      bytes[AT.command] = random.pick(Object.values(ReplicaCommand));
      view.setUint32(AT.payloadLength, random.below(bytes.length - 255), true);
      refused(bytes, "bad_seal");
    }
  });

  it("cannot be made of values that its fields do not hold", () => {
    const group = {
      kind: "partition",
      partition: { streamId: -1, topicId: 0, partitionId: 0, revision: 0 },
    } as const;
    for (const wrong of [{ view: 2 ** 32 }, { view: 0.5 }, { replica: 256 }, { replica: -1 }, { group }]) {
      assert.throws(
        () => sealReplicaFrame(hash, { ...FRAME, ...wrong }),
        (error) => isWireError(error, "bad_value"),
      );
    }
  });
});
