import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode, isCodedError } from "@millrace/errors";
import fc from "fast-check";
import type { ReplyFields } from "../output.ts";
import { ClientTable } from "./client-table.ts";

function replyOf(client: bigint, request: bigint, op: number): ReplyFields {
  const body = Uint8Array.of(op & 0xff, 2, 3);
  return { client, request, op, view: 1, commit: op, timestamp: op * 10, operation: 128, body };
}

/** A table after a random history; every table is a function of its actions. */
const actions = fc.array(
  fc.record({
    kind: fc.constantFrom("register" as const, "record" as const, "record" as const, "remove" as const),
    client: fc.bigInt({ min: 1n, max: 6n }),
    checksum: fc.bigInt({ min: 0n, max: 2n ** 128n - 1n }),
  }),
  { maxLength: 60 },
);

type Actions = typeof actions extends fc.Arbitrary<infer T> ? T : never;

function play(table: ClientTable, history: Actions, firstOp: number): void {
  history.forEach(({ kind, client, checksum }, index) => {
    const op = firstOp + index;
    if (kind === "register") table.register(client, 1, op);
    else if (kind === "remove") table.remove(client);
    else table.record(replyOf(client, BigInt(op), op), checksum);
  });
}

test("a restored table is the same table and goes on the same way", () => {
  fc.assert(
    fc.property(actions, actions, (before, after) => {
      const options = { capacity: 4, replyBytesMax: 20 };
      const table = new ClientTable(options);
      play(table, before, 1);
      const restored = ClientTable.decode(table.encode(), options);
      assert.deepEqual(restored.sessions(), table.sessions());
      play(table, after, 100);
      play(restored, after, 100);
      assert.deepEqual(restored.encode(), table.encode());
    }),
    { numRuns: 100 },
  );
});

test("what a restored table holds does not depend on the bytes it came from", () => {
  const table = new ClientTable();
  table.register(7n, 1, 1);
  table.record(replyOf(7n, 1n, 2), 0n);
  const bytes = table.encode();
  const restored = ClientTable.decode(bytes);
  bytes.fill(0xff);
  assert.deepEqual(restored.sessions(), table.sessions());
});

function sample(): Uint8Array {
  const table = new ClientTable();
  table.register(7n, 1, 1);
  table.record(replyOf(7n, 1n, 2), 9n);
  table.register(8n, 2, 3);
  return table.encode();
}

test("damaged bytes give a coded error with the position, never another throw", () => {
  const bytes = sample();
  for (let length = 0; length < bytes.length; length += 1) assertDamaged(bytes.slice(0, length));
  assertDamaged(Uint8Array.of(...bytes, 0));
  fc.assert(
    fc.property(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), (position, flip) => {
      const mutated = bytes.slice();
      mutated[position] = (mutated[position] as number) ^ flip;
      try {
        ClientTable.decode(mutated);
      } catch (error) {
        assert.ok(isCodedError(error), String(error));
      }
    }),
    { numRuns: 300 },
  );
});

test("a table of a later version is refused as too new, one of version 0 as damaged", () => {
  const bytes = sample();
  bytes[0] = 2;
  assert.throws(
    () => ClientTable.decode(bytes),
    (error) => isCodedError(error, ErrorCode.FormatTooNew),
  );
  bytes[0] = 0;
  assertDamaged(bytes);
});

test("clients out of ascending order are damage", () => {
  const bytes = sample();
  const swapped = bytes.slice();
  swapped[8] = 9;
  assertDamaged(swapped);
});

function assertDamaged(bytes: Uint8Array): void {
  assert.throws(
    () => ClientTable.decode(bytes),
    (error) =>
      isCodedError(error, ErrorCode.MetadataDamaged) && typeof error.details["position"] === "number",
  );
}
