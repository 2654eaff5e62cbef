import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import * as z from "zod";
import { configSchema } from "./schema.ts";
import { tableShape } from "./schema-leaves.ts";
import { WITHOUT_EFFECT } from "./without-effect.table.ts";
import { reasonWithoutEffect } from "./without-effect.ts";

/** Default of every setting as one would write it in the file, by its dotted name. */
function schemaDefaults(schema: unknown, above = ""): (readonly [key: string, value: string])[] {
  const shape = tableShape(schema);
  if (shape === undefined) return [[above, defaultText(schema)]];
  return Object.entries(shape).flatMap(([key, inner]) =>
    schemaDefaults(inner, above === "" ? key : `${above}.${key}`),
  );
}

function defaultText(schema: unknown): string {
  return schema instanceof z.ZodPrefault ? `\`${JSON.stringify(schema.def.defaultValue)}\`` : "not set";
}

/** Rows of the README's tables that begin with a setting: key, default, what it does. */
function readmeRows(): readonly (readonly [key: string, value: string, text: string])[] {
  const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
  return [...readme.matchAll(/^\| `([a-z0-9_.]+)` +\| (.+?) +\| (.+?) +\|$/gm)].map(
    ([, key = "", value = "", text = ""]) => [key, value, text],
  );
}

test("The README lists every setting once, with its default.", () => {
  const expected = schemaDefaults(configSchema);
  const rows = new Map(readmeRows().map(([key, value]) => [key, value]));
  assert.equal(rows.size, readmeRows().length, "no setting stands twice");
  assert.deepEqual([...rows].sort(), [...expected].sort());
});

test("The README says of the same settings that they have no effect as the server does.", () => {
  for (const [key, , text] of readmeRows()) {
    const reason = reasonWithoutEffect(key);
    assert.equal(text.startsWith("no effect: "), reason !== undefined, key);
    if (reason !== undefined) assert.equal(text, `no effect: ${reason}`, key);
  }
});

test("The README lists the settings that have no effect behind all others, in a table of their own.", () => {
  const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
  const [honoured = "", idle = ""] = readme.split("These are read and checked and change nothing here");
  assert.doesNotMatch(honoured, /\| no effect: /);
  const rows = idle.split("\n").filter((line) => line.startsWith("| `"));
  assert.ok(rows.length > 0);
  for (const row of rows) assert.match(row, /\| no effect: /);
});

test("Every entry of the table of settings without effect names a setting.", () => {
  const keys = schemaDefaults(configSchema).map(([key]) => key);
  for (const [path] of WITHOUT_EFFECT) {
    assert.ok(
      keys.some((key) => key === path || key.startsWith(`${path}.`)),
      path,
    );
  }
});
