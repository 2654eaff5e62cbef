import assert from "node:assert/strict";
import { test } from "node:test";
import { checkGlobals } from "./banned-globals.ts";
import { checkDocstrings } from "./docstrings.ts";
import { checkImports } from "./import-table.ts";
import { checkLengths, FUNCTION_LINES_MAX } from "./length-limits.ts";
import { type Finding, parseSource, type SourceFile } from "./source-file.ts";

function rules(check: (file: SourceFile) => Finding[], path: string, text: string): string[] {
  return check(parseSource(path, text)).map((finding) => finding.rule);
}

const storage = "packages/storage/src/segment/segment.ts";

test("an import against the table is found, static, re-exported or dynamic", () => {
  for (const line of [
    'import { Broker } from "@millrace/broker";',
    'export { Broker } from "@millrace/broker";',
    'export * from "@millrace/broker";',
    'const broker = await import("@millrace/broker");',
  ]) {
    assert.deepEqual(rules(checkImports, storage, line), [
      "storage imports broker, an edge the table does not have",
    ]);
  }
});

test("an import the table has is not found", () => {
  const text = 'import type { Disk } from "@millrace/platform";\nimport { assert } from "@millrace/errors";';
  assert.deepEqual(rules(checkImports, storage, text), []);
});

test("the inside of another package is out of reach, by name and by path", () => {
  assert.equal(rules(checkImports, storage, 'import { x } from "@millrace/framing/src/x.ts";').length, 1);
  assert.equal(rules(checkImports, storage, 'import { x } from "../../../framing/src/x.ts";').length, 1);
});

test("Node built-ins are found below the platform and not inside it", () => {
  const line = 'import { open } from "node:fs";';
  assert.equal(rules(checkImports, storage, line).length, 1);
  assert.equal(rules(checkImports, "packages/platform/src/clock.ts", line).length, 1);
  assert.equal(rules(checkImports, "packages/platform/src/node/node-disk.ts", line).length, 0);
});

test("one transport may not import another", () => {
  const path = "packages/transports/src/memory/pair.ts";
  assert.deepEqual(rules(checkImports, path, 'import { x } from "../tcp/x.ts";'), [
    "one transport imports another",
  ]);
  assert.deepEqual(rules(checkImports, path, 'import { x } from "../assembly/x.ts";'), []);
});

test("clocks, chance and timers are found where they are banned, as values only", () => {
  assert.deepEqual(rules(checkGlobals, storage, "const now = Date.now();"), ["storage uses Date"]);
  assert.deepEqual(rules(checkGlobals, storage, "const x = Math.random();"), ["storage uses Math.random"]);
  assert.deepEqual(rules(checkGlobals, storage, "setTimeout(run, 5);"), ["storage uses setTimeout"]);
  assert.deepEqual(rules(checkGlobals, storage, "const x = { Date: 1 }.Date; type T = Date;"), []);
  assert.deepEqual(rules(checkGlobals, "packages/vsr/src/x.ts", "new Promise(() => {});"), [
    "vsr uses Promise",
  ]);
  assert.deepEqual(rules(checkGlobals, "packages/vsr/src/x.test.ts", "new Promise(() => {});"), []);
});

test("long files, functions and lines are found; tables are exempt", () => {
  const long = `function f() {\n${"  x();\n".repeat(FUNCTION_LINES_MAX)}}\n`;
  assert.equal(rules(checkLengths, storage, long).length, 1);
  assert.equal(rules(checkLengths, storage, "x();\n".repeat(501)).length, 1);
  assert.equal(rules(checkLengths, "packages/x/src/rows.table.ts", "x();\n".repeat(501)).length, 0);
  assert.equal(rules(checkLengths, storage, `const sum = ${"a + ".repeat(40)}a;`).length, 1);
});

test("an export without a docstring is found; a comment between does not hide it", () => {
  assert.deepEqual(rules(checkDocstrings, storage, "export const a = 1;"), ["a has no docstring"]);
  assert.deepEqual(rules(checkDocstrings, storage, "/** One. */\nexport const a = 1;"), []);
  assert.deepEqual(rules(checkDocstrings, storage, "/** One. */\n// why\nexport const a = 1;"), []);
  assert.deepEqual(rules(checkDocstrings, storage, "/** One. */\nconst b = 1;\nexport const a = b;"), [
    "a has no docstring",
  ]);
  assert.deepEqual(
    rules(checkDocstrings, "packages/x/src/index.ts", 'export { a } from "./a.ts";').length,
    1,
  );
});
