import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ErrorCode } from "@millrace/errors";
import { silentLog } from "@millrace/platform";
import { SimClock } from "@millrace/platform/sim";
import { STATE_CHUNK_LENGTH_MAX, STATE_PARTS_MAX, type StateMessage } from "@millrace/protocol";
import { CatchUpPace } from "../catch-up/catch-up-pace.ts";
import { type GivenWords, StateSender } from "./state-sender.ts";
import type { OfferedState } from "./state-source.ts";

function groupOf(partitionId: number) {
  return { kind: "partition", partition: { streamId: 0, topicId: 0, partitionId, revision: 3 } } as const;
}

type Said = GivenWords & { readonly transfer: number };

/** A state of one part whose bytes are their own positions. */
function stateOf(length: number): OfferedState & { closes: number } {
  return {
    ...{ op: 9, checksum: 5n, parts: [{ name: "part", length, checksum: 0n }], closes: 0 },
    read: async (_part, place) =>
      Uint8Array.from({ length: place.length }, (_, at) => (place.position + at) % 251),
    close() {
      this.closes += 1;
      return Promise.resolve();
    },
  };
}

function senderOf(state: OfferedState | undefined) {
  const said: Said[] = [];
  const clock = new SimClock();
  const sender = new StateSender({
    ...{ clock, log: silentLog, pace: new CatchUpPace(), say: (_to, _group, words) => void said.push(words) },
    sourceOf: () => ({ offer: () => Promise.resolve(state) }),
  });
  const hear = async (words: Partial<StateMessage> & Pick<StateMessage, "kind">, transfer = 1) => {
    sender.receive(2, groupOf(transfer), { view: 0, replica: 2, transfer, ...words } as StateMessage);
    await clock.run(1);
  };
  return { said, clock, sender, hear };
}

describe("The giver of a state", () => {
  it("tells the manifest, then each chunk that is asked for, shorter only at the end.", async () => {
    const state = stateOf(STATE_CHUNK_LENGTH_MAX + 10);
    const { said, hear } = senderOf(state);
    await hear({ kind: "stateRequest", op: 9 });
    await hear({ kind: "stateChunkRequest", part: 0, position: 0 });
    await hear({ kind: "stateChunkRequest", part: 0, position: STATE_CHUNK_LENGTH_MAX });
    await hear({ kind: "stateEnd", code: 0 });
    assert.deepEqual(
      said.map((words) => (words.kind === "stateChunk" ? words.bytes.length : words.kind)),
      ["stateManifest", STATE_CHUNK_LENGTH_MAX, 10],
    );
    assert.equal(state.closes, 1);
  });

  it("ends with 58 when its state does not reach so far, is not there, or was never asked for.", async () => {
    for (const state of [stateOf(1), undefined]) {
      const { said, hear } = senderOf(state);
      await hear({ kind: "stateRequest", op: 10 });
      await hear({ kind: "stateChunkRequest", part: 0, position: 0 });
      const end = { kind: "stateEnd", code: ErrorCode.TransientNotAccepted, transfer: 1 };
      assert.deepEqual(said, [end, end]);
      assert.equal(state?.closes ?? 1, 1);
    }
  });

  it("ends when bytes are asked for that the state does not have.", async () => {
    for (const place of [
      { part: 1, position: 0 },
      { part: 0, position: 5 },
    ]) {
      const { said, hear } = senderOf(stateOf(5));
      await hear({ kind: "stateRequest", op: 1 });
      await hear({ kind: "stateChunkRequest", ...place });
      assert.deepEqual(said[1], { kind: "stateEnd", code: ErrorCode.ReplicaFrameInvalid, transfer: 1 });
    }
  });

  it("ends when the state has more parts than a manifest holds.", async () => {
    const [part] = stateOf(1).parts;
    assert.ok(part !== undefined);
    const parts = new Array(STATE_PARTS_MAX + 1).fill(part);
    const { said, hear } = senderOf({ ...stateOf(1), parts });
    await hear({ kind: "stateRequest", op: 1 });
    assert.deepEqual(said, [{ kind: "stateEnd", code: ErrorCode.FrameTooLarge, transfer: 1 }]);
  });

  it("gives eight at a time, and forgets who says nothing for half a minute.", async () => {
    const { said, clock, hear } = senderOf(stateOf(5));
    for (let transfer = 1; transfer <= 9; transfer += 1)
      await hear({ kind: "stateRequest", op: 1 }, transfer);
    assert.deepEqual(said[8], { kind: "stateEnd", code: ErrorCode.TransientNotAccepted, transfer: 9 });
    await clock.run(20_000);
    await hear({ kind: "stateChunkRequest", part: 0, position: 0 }, 1);
    await clock.run(20_000);
    await hear({ kind: "stateChunkRequest", part: 0, position: 0 }, 2);
    assert.equal(said.at(-1)?.kind, "stateEnd", "the second is forgotten");
    await hear({ kind: "stateChunkRequest", part: 0, position: 0 }, 1);
    assert.equal(said.at(-1)?.kind, "stateChunk", "the first is not");
    await hear({ kind: "stateRequest", op: 1 }, 9);
    assert.equal(said.at(-1)?.kind, "stateManifest");
  });

  it("forgets what a node began before when it asks for the group anew; the metadata has room.", async () => {
    const state = stateOf(5);
    const { said, clock, sender } = senderOf(state);
    for (let transfer = 1; transfer <= 20; transfer += 1) {
      for (const group of [{ kind: "metadata" } as const, groupOf(0)]) {
        sender.receive(2, group, { kind: "stateRequest", view: 0, replica: 2, transfer, op: 1 });
      }
      await clock.run(1);
    }
    assert.ok(said.every(({ kind }) => kind === "stateManifest"));
    assert.equal(state.closes, 38);
  });
});
