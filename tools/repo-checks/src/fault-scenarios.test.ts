import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const page = readFileSync(join(root, "docs", "fault-scenarios.md"), "utf8");

/** How many scenarios the sections have: A durability, B order, C offsets and groups, E input. */
const SECTIONS = { A: 18, B: 6, C: 8, E: 6 } as const;

const numbersOf = ([section, count]: [string, number]) =>
  Array.from({ length: count }, (_, index) => `${section}-${String(index + 1).padStart(2, "0")}`);

test("every fault scenario of a single node has a test or a reason, and each of these tests exists", () => {
  const rows = [...page.matchAll(/^\| ([A-E]-\d\d) \| (\S+\.(?:test\.ts|mjs)) \| (.+) \|$/gm)];
  const reasons = [...page.matchAll(/^\| ([A-E]-\d\d) \| ([^|]+) \|$/gm)];
  const found = new Set([...rows, ...reasons].map(([, number]) => number));
  const missing = Object.entries(SECTIONS)
    .flatMap(numbersOf)
    .filter((number) => !found.has(number));
  assert.deepEqual(missing, []);
  for (const [, number = "", path = "", title = ""] of rows) {
    const text = readFileSync(join(root, path), "utf8");
    assert.ok(text.includes(`"${title}"`), `${number}: no test "${title}" in ${path}`);
  }
});

test("every test that bears a scenario's number is on the page", () => {
  const rows = new Set([...page.matchAll(/^\| [A-E]-\d\d \| \S+ \| (.+) \|$/gm)].map(([, title]) => title));
  const files = [...page.matchAll(/^\| [A-E]-\d\d \| (\S+\.test\.ts) \|/gm)].map(([, path = ""]) => path);
  for (const path of new Set(files)) {
    const text = readFileSync(join(root, path), "utf8");
    for (const [, title = ""] of text.matchAll(/"([A-E]-\d\d: [^"]+)"/g)) {
      assert.ok(rows.has(title), `${path}: put "${title}" on docs/fault-scenarios.md`);
    }
  }
});
