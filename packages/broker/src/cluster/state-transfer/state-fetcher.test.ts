import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CodedError, ErrorCode } from "@millrace/errors";
import type { GroupAddress } from "@millrace/framing";
import { type Counter, type Metrics, silentLog } from "@millrace/platform";
import { SimClock } from "@millrace/platform/sim";
import type { StateMessage } from "@millrace/protocol";
import type { AskedWords } from "./state-fetch.ts";
import { StateFetcher } from "./state-fetcher.ts";
import type { StateSink } from "./state-source.ts";

type Asked = AskedWords & { readonly transfer: number; readonly to: number };

function groupOf(partitionId: number): GroupAddress {
  return { kind: "partition", partition: { streamId: 0, topicId: 0, partitionId, revision: 4 } };
}

/** A fetcher whose sinks keep what comes; `failure` is why they cannot use it, `keeping` ends keeping. */
function fetcherOf(failure?: CodedError, held: readonly number[] = [], keeping = Promise.resolve()) {
  const asked: Asked[] = [];
  const kept: string[] = [];
  const clock = new SimClock();
  const say = (to: number, _group: GroupAddress, words: Omit<Asked, "to">) => {
    asked.push({ ...words, to } as Asked);
  };
  const counts = new Map<string, number>();
  const gauges = new Map<string, () => number>();
  const metrics: Metrics = {
    counter: (name, _help, labels): Counter => {
      const key = `${name} ${labels?.["group"]}`;
      return { add: (count) => void counts.set(key, (counts.get(key) ?? 0) + count) };
    },
    gauge: (name, _help, read) => void gauges.set(name, read as () => number),
  };
  const fetcher = new StateFetcher({ clock, log: silentLog, metrics, say }, 100);
  const sink = (): StateSink => ({
    begin: async () => {
      kept.push("begin");
      return held;
    },
    write: async (_part, position, bytes) => void kept.push(`${position}+${bytes.length}`),
    finish: async () => {
      if (failure !== undefined) throw failure;
      kept.push("finish");
    },
    keep: () => {
      kept.push("keep");
      return keeping;
    },
    discard: async () => void kept.push("discard"),
  });
  const wish = (from: number, partitionId = 0) =>
    fetcher.begin({ group: groupOf(partitionId), from, op: 5, sink });
  const hear = async (from: number, words: Partial<StateMessage> & Pick<StateMessage, "kind">) => {
    const transfer = asked.at(-1)?.transfer;
    fetcher.receive(from, groupOf(0), { view: 0, replica: from, transfer, ...words } as StateMessage);
    await clock.run(1);
  };
  return { asked, kept, clock, fetcher, wish, hear, counts, gauges };
}

const MANIFEST = {
  kind: "stateManifest",
  op: 7,
  checksum: 1n,
  parts: [{ name: "p", length: 3, checksum: 0n }],
} as const;
const CHUNK = { kind: "stateChunk", part: 0, position: 0, bytes: new Uint8Array(3) } as const;

async function fetchAll({ wish, hear }: ReturnType<typeof fetcherOf>, from: number): Promise<void> {
  wish(from);
  await hear(from, MANIFEST);
  await hear(from, CHUNK);
}

describe("Who fetches a state", () => {
  it("asks for the manifest and each chunk, says that it has all, and uses it.", async () => {
    const world = fetcherOf();
    await fetchAll(world, 1);
    assert.deepEqual(
      world.asked.map(({ kind }) => kind),
      ["stateRequest", "stateChunkRequest", "stateEnd"],
    );
    assert.deepEqual(world.kept, ["begin", "0+3", "finish"]);
  });

  it("counts bytes, transfers under way, those that ended and those that failed, of each plane.", async () => {
    const world = fetcherOf();
    const underWay = () => world.gauges.get("replica_partition_states_fetching")?.();
    world.wish(1);
    assert.equal(underWay(), 1);
    assert.equal(world.gauges.get("replica_metadata_states_fetching")?.(), 0);
    await world.hear(1, MANIFEST);
    await world.hear(1, CHUNK);
    assert.equal(underWay(), 0);
    world.wish(1);
    await world.hear(1, { kind: "stateEnd", code: 58 });
    assert.deepEqual([...world.counts].sort(), [
      ["replica_state_bytes_fetched_total partition", 3],
      ["replica_state_fetches_failed_total partition", 1],
      ["replica_states_fetched_total partition", 1],
    ]);
  });

  it("asks five times in ten seconds, then another node at once and the same one later.", async () => {
    const { asked, clock, wish } = fetcherOf();
    wish(1);
    await clock.run(10_100);
    assert.equal(asked.filter(({ kind }) => kind === "stateRequest").length, 5);
    wish(1);
    assert.equal(asked.at(-1)?.kind, "stateEnd");
    wish(2);
    assert.deepEqual([asked.at(-1)?.kind, asked.at(-1)?.to], ["stateRequest", 2]);
  });

  it("takes nothing from another node or another transfer, nor more than was told.", async () => {
    const { asked, kept, wish, hear } = fetcherOf();
    wish(1);
    await hear(2, MANIFEST);
    await hear(1, { ...MANIFEST, transfer: 99 });
    assert.deepEqual(kept, []);
    await hear(1, MANIFEST);
    await hear(1, { ...CHUNK, position: 1 });
    await hear(1, { ...CHUNK, bytes: new Uint8Array(4) });
    assert.deepEqual(kept, ["begin", "discard"]);
    assert.equal(asked.at(-1)?.kind, "stateEnd");
  });

  it("keeps what came when the other side ends it, and asks only for what is not there.", async () => {
    const broken = fetcherOf();
    broken.wish(1);
    await broken.hear(1, MANIFEST);
    await broken.hear(1, { kind: "stateEnd", code: ErrorCode.TransientNotAccepted });
    assert.deepEqual(broken.kept, ["begin", "keep"]);
    const next = fetcherOf(undefined, [2]);
    next.wish(1);
    await next.hear(1, MANIFEST);
    const asked = next.asked.at(-1);
    assert.ok(asked?.kind === "stateChunkRequest" && asked.position === 2);
    await next.hear(1, { ...CHUNK, position: 2, bytes: new Uint8Array(1) });
    assert.deepEqual(next.kept, ["begin", "2+1", "finish"]);
  });

  it("keeps nothing of a state that is given up, also when the other side is gone already.", async () => {
    const gone = fetcherOf();
    gone.wish(1);
    await gone.hear(1, MANIFEST);
    gone.fetcher.onPeerDown(1);
    gone.fetcher.cancel(groupOf(0));
    await gone.clock.run(1);
    assert.deepEqual(gone.kept, ["begin", "discard"]);
  });

  it("removes what it keeps when that is given up before it is kept.", async () => {
    let letGo = () => {};
    const held = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const late = fetcherOf(undefined, [], held);
    late.wish(1);
    await late.hear(1, MANIFEST);
    late.fetcher.onPeerDown(1);
    await late.clock.run(1);
    late.fetcher.cancel(groupOf(0));
    letGo();
    await late.clock.run(1);
    assert.deepEqual(late.kept, ["begin", "keep", "discard"]);
  });

  it("waits longer after each state that it could not use.", async () => {
    const world = fetcherOf(new CodedError(ErrorCode.PartitionDamaged, "It is damaged."));
    const { asked, kept, clock, wish, hear } = world;
    const delays: number[] = [];
    wish(1);
    for (let from = 1; delays.length < 8; from = 3 - from) {
      await hear(from, MANIFEST);
      await hear(from, CHUNK);
      assert.equal(kept.at(-1), "discard");
      const startMs = clock.monotonicMs();
      for (let tries = 0; asked.at(-1)?.kind !== "stateRequest" && tries < 1000; tries += 1) {
        await clock.run(100);
        wish(3 - from);
      }
      delays.push(Math.floor((clock.monotonicMs() - startMs) / 1000));
    }
    assert.deepEqual(delays, [1, 2, 4, 8, 16, 32, 60, 60]);
  });

  it("fetches four at a time, and ends all when it is stopped.", async () => {
    const { asked, kept, fetcher, wish } = fetcherOf();
    for (let partitionId = 0; partitionId < 6; partitionId += 1) wish(1, partitionId);
    assert.equal(asked.length, 4);
    await fetcher.stop();
    assert.equal(kept.filter((what) => what === "discard").length, 4);
    wish(1, 5);
    assert.equal(asked.filter(({ kind }) => kind === "stateRequest").length, 4);
  });
});
