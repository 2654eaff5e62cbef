import assert from "node:assert/strict";
import { test } from "node:test";
import pc from "picocolors";
import { writeJson } from "./json-writer.ts";
import { printable } from "./printable.ts";
import { render } from "./render.ts";
import { type Field, properties, rows, sentence } from "./result.ts";

interface Thing {
  readonly id: bigint;
  readonly name: string;
}

const FIELDS: readonly Field<Thing>[] = [
  { name: "id", title: "ID", value: (thing) => thing.id },
  { name: "name", title: "Name", value: (thing) => thing.name, text: (thing) => thing.name.toUpperCase() },
];
const THINGS = [
  { id: 340_282_366_920_938_463_463_374_607_431_768_211_455n, name: "one" },
  { id: 9_007_199_254_740_993n, name: "two\u001b[2J" },
];
const plain = pc.createColors(false);

test("JSON numbers keep all their digits", () => {
  const text = render(rows(FIELDS, THINGS, "none"), "json", plain);
  assert.match(text, /"id": 340282366920938463463374607431768211455,/);
  assert.match(text, /"id": 9007199254740993,/);
  assert.equal(JSON.parse(text)[0].name, "one");
});

test("the JSON writer agrees with JSON.stringify about everything that both can write", () => {
  const value = { a: [1, "two\n\u2028", null, true, [], {}], b: { c: -0.5e-7, d: "" }, e: [[1], [{ f: 2 }]] };
  assert.equal(writeJson(value), JSON.stringify(value, undefined, 2));
  assert.equal(writeJson(value, "line"), JSON.stringify(value));
  assert.equal(writeJson(Number.NaN), "null");
});

test("a table has one line a row under its titles", () => {
  const lines = render(rows(FIELDS, THINGS, "none"), "table", plain)
    .trim()
    .split("\n");
  assert.equal(lines.length, 6);
  assert.match(lines[1] ?? "", /ID\s.*Name/);
  assert.match(lines[3] ?? "", /340282366920938463463374607431768211455.*ONE/);
});

test("a long table is as wide everywhere as its widest row, and takes no longer than its rows", async () => {
  const things = Array.from({ length: 10_000 }, (_, index) => ({ id: BigInt(index), name: "x" }));
  things[9_850] = { id: 0n, name: "the widest of all names" };
  const startMs = performance.now();
  const lines = render(rows(FIELDS, things, "none"), "table", plain)
    .trimEnd()
    .split("\n");
  assert.ok(performance.now() - startMs < 12_000, "the square of the rows takes half a minute");
  assert.equal(lines.length, 10_004);
  assert.deepEqual([...new Set(lines.map((line) => line.length))], [lines[0]?.length]);
  assert.deepEqual(
    lines.slice(3, -1).map((line) => Number(/\d+/.exec(line)?.[0])),
    things.map(({ id }) => Number(id)),
  );
  assert.ok(lines[9_853]?.includes("THE WIDEST OF ALL NAMES │"));
  for (const [at, mark] of [
    [0, "┌"],
    [2, "├"],
    [-1, "└"],
  ] as const)
    assert.equal(lines.at(at)?.[0], mark);
});

test("a list has one line a row, fields joined by bars, and no titles", () => {
  assert.equal(render(rows(FIELDS, THINGS.slice(0, 1), "none"), "list", plain), `${THINGS[0]?.id}|ONE\n`);
});

test("control characters of names and payloads never reach the terminal", () => {
  for (const mode of ["table", "list"] as const) {
    const text = render(rows(FIELDS, THINGS, "none"), mode, plain);
    assert.ok(!text.includes("\u001b"), mode);
    assert.ok(text.includes("\\u001b"), mode);
  }
  assert.equal(printable("a\nb\tc\u009b\u007f"), "a\\nb\\tc\\u009b\\u007f");
});

test("an empty list is a sentence for people and an empty array for programs", () => {
  const empty = rows(FIELDS, [], "No things found!");
  assert.equal(render(empty, "table", plain), "No things found!\n");
  assert.equal(render(empty, "list", plain), "No things found!\n");
  assert.equal(render(empty, "json", plain), "[]\n");
});

test("an item with lists is one JSON object, and a table for each part otherwise", () => {
  const [first, second] = THINGS as [Thing, Thing];
  const result = properties(FIELDS, first, { others: rows(FIELDS, [second], "none") });
  const json = render(result, "json", plain);
  assert.deepEqual(Object.keys(JSON.parse(json)), ["id", "name", "others"]);
  assert.equal(render(result, "list", plain), `ID|${first.id}\nName|ONE\n9007199254740993|TWO\\u001b[2J\n`);
  assert.match(render(result, "table", plain), /Property.*Value/);
});

test("TOML has the plain members and one table an item of a list", () => {
  const [first, second] = THINGS as [Thing, Thing];
  const result = properties(FIELDS, first, { others: rows(FIELDS, [second], "none") });
  const other = '[[others]]\nid = 9007199254740993\nname = "two\\u001b[2J"\n';
  const expected = `id = ${first.id}\nname = "one"\n\n${other}`;
  assert.equal(render(result, "toml", plain), expected);
  assert.throws(() => render(rows(FIELDS, THINGS, "none"), "toml", plain), TypeError);
});

test("a sentence is itself in tables and lists and its facts in JSON", () => {
  const result = sentence("Stream created.", { id: 3 });
  assert.equal(render(result, "table", plain), "Stream created.\n");
  assert.equal(render(result, "list", plain), "Stream created.\n");
  assert.equal(render(result, "json", plain), '{\n  "id": 3\n}\n');
});
