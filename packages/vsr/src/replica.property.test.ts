import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Input } from "./input.ts";
import type { Output } from "./output.ts";
import { PIPELINE_ALONE_DEPTH_MAX, PIPELINE_DEPTH_MAX } from "./pipeline.ts";
import type { PrepareFields, Request } from "./prepare.ts";
import { Replica } from "./replica.ts";

const checksumOf = ({ op, parent, body }: PrepareFields) =>
  (parent * 31n + BigInt(op) * 7n + BigInt(body as number)) & 0xffffffffn;

function replicaOf(prepareQueueDepth: number): Replica {
  const recovered = { view: 0, logView: 0, op: 0, commit: 0, checksum: 0n };
  return new Replica({ replica: 0, replicaCount: 1, cluster: 0n, prepareQueueDepth, recovered, checksumOf });
}

function requestOf(body: number): Request {
  const fixed = { client: 7n, session: 0, operation: 160, user: 0, timestamp: 0, bodyChecksum: 0n };
  return { ...fixed, request: BigInt(body), body };
}

/** Requests, and completions of whichever write `choice` picks, in any order, repeated ones included. */
const stepsOf = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant("request" as const), body: fc.nat(1000) }),
    fc.record({ kind: fc.constant("written" as const), choice: fc.nat() }),
  ),
  { maxLength: 120 },
);

interface Run {
  readonly inputs: Input[];
  readonly outputs: Output[];
}

function run(depth: number, steps: readonly { kind: string; body?: number; choice?: number }[]): Run {
  const replica = replicaOf(depth);
  const writes: { op: number; checksum: bigint }[] = [];
  const result: Run = { inputs: [], outputs: [] };
  for (const step of steps) {
    const write = writes[(step.choice ?? 0) % Math.max(1, writes.length)];
    if (step.kind === "written" && write === undefined) continue;
    const input: Input =
      step.kind === "request" || write === undefined
        ? { kind: "request", request: requestOf(step.body ?? 0) }
        : { kind: "journal-written", ...write };
    const outputs = replica.step(input);
    for (const output of outputs) {
      if (output.kind === "journal-write") writes.push(output.prepare);
    }
    assert.ok(replica.op - replica.commit <= depth, "the pipeline is bounded");
    assert.equal(replica.pipelineFree, depth - (replica.op - replica.commit));
    result.inputs.push(input);
    result.outputs.push(...outputs);
  }
  return result;
}

test("whatever the order of completions, ops commit in op order, each once, and only when written", () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.integer({ min: 1, max: PIPELINE_DEPTH_MAX }), fc.constant(PIPELINE_ALONE_DEPTH_MAX)),
      stepsOf,
      (depth, steps) => {
        const { inputs, outputs } = run(depth, steps);
        const applied = outputs.flatMap((output) => (output.kind === "apply" ? [output.prepare.op] : []));
        assert.deepEqual(
          applied,
          applied.map((_, index) => index + 1),
        );
        const written = new Set(
          inputs.flatMap((input) => (input.kind === "journal-written" ? [input.op] : [])),
        );
        for (const op of applied) assert.ok(written.has(op));
        assert.ok(!written.has(applied.length + 1), "a written op after committed ones is committed");
      },
    ),
    { numRuns: 200 },
  );
});

test("every op is chained to the one before it", () => {
  fc.assert(
    fc.property(stepsOf, (steps) => {
      let parent = 0n;
      for (const output of run(8, steps).outputs) {
        if (output.kind !== "journal-write") continue;
        assert.equal(output.prepare.parent, parent);
        assert.equal(output.prepare.checksum, checksumOf(output.prepare));
        parent = output.prepare.checksum;
      }
    }),
    { numRuns: 100 },
  );
});

test("the same inputs give the same outputs", () => {
  fc.assert(
    fc.property(stepsOf, (steps) => {
      const { inputs, outputs } = run(4, steps);
      const again = replicaOf(4);
      assert.deepEqual(
        inputs.flatMap((input) => again.step(input)),
        outputs,
      );
    }),
    { numRuns: 100 },
  );
});
