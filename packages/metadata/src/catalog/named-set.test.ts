import assert from "node:assert/strict";
import { test } from "node:test";
import { InvariantError } from "@millrace/errors";
import fc from "fast-check";
import { NamedSet } from "./named-set.ts";

const memberOf = (id: number) => ({ id, name: `member-${id}` });

test("the lowest free id depends on the taken ids alone", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(12), { maxLength: 80 }), (toggles) => {
      const set = new NamedSet<{ id: number; name: string }>();
      for (const id of toggles) {
        const member = set.byId(id);
        if (member === undefined) set.add(memberOf(id));
        else set.remove(member);
        let expected = 0;
        while (set.byId(expected) !== undefined) expected += 1;
        assert.equal(set.lowestFreeId(), expected);
      }
    }),
    { numRuns: 100 },
  );
});

test("members are listed by ascending id whatever order they came in", () => {
  const set = new NamedSet<{ id: number; name: string }>();
  for (const id of [3, 0, 2]) set.add(memberOf(id));
  assert.deepEqual(
    set.list().map(({ id }) => id),
    [0, 2, 3],
  );
  assert.equal(set.list(), set.list());
});

test("names are found byte for byte, and a name of digits is no id", () => {
  const set = new NamedSet<{ id: number; name: string }>();
  set.add({ id: 0, name: "Orders" });
  set.add({ id: 1, name: "0" });
  assert.equal(set.find({ kind: "name", name: "orders" }), undefined);
  assert.equal(set.find({ kind: "name", name: "0" })?.id, 1);
  assert.equal(set.find({ kind: "numeric", id: 0 })?.name, "Orders");
});

test("a replaced member is found under its new name only", () => {
  const set = new NamedSet<{ id: number; name: string }>();
  set.add(memberOf(0));
  set.replace({ id: 0, name: "renamed" });
  assert.equal(set.byName("member-0"), undefined);
  assert.equal(set.byName("renamed")?.id, 0);
  assert.equal(set.list()[0]?.name, "renamed");
});

test("taking an id or a name twice is a mistake of ours", () => {
  const set = new NamedSet<{ id: number; name: string }>();
  set.add(memberOf(0));
  set.add(memberOf(1));
  assert.throws(() => set.add({ id: 0, name: "other" }), InvariantError);
  assert.throws(() => set.add({ id: 2, name: "member-0" }), InvariantError);
  assert.throws(() => set.replace({ id: 9, name: "other" }), InvariantError);
  assert.throws(() => set.replace({ id: 0, name: "member-1" }), InvariantError);
});
