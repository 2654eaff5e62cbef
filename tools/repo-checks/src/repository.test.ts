import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { checkGlobals } from "./banned-globals.ts";
import { checkDocstrings } from "./docstrings.ts";
import { checkImports } from "./import-table.ts";
import { checkLengths } from "./length-limits.ts";
import { type Finding, readSources, type SourceFile } from "./source-file.ts";

const sources = readSources(fileURLToPath(new URL("../../..", import.meta.url)));

function demandNone(check: (file: SourceFile) => Finding[]): void {
  const findings = sources.flatMap(check);
  const lines = findings.map(({ path, line, rule, fix }) => `${path}:${line}: ${rule}\n    mend it: ${fix}`);
  assert.equal(findings.length, 0, `\n${lines.join("\n")}`);
}

test("the workspace has sources to check", () => {
  assert.ok(sources.length > 100);
});

test("imports point down, along the table of the style guide", () => demandNone(checkImports));

test("files, functions and lines keep their limits", () => demandNone(checkLengths));

test("no package reaches around the platform", () => demandNone(checkGlobals));

test("every export has a docstring and every front door an example", () => demandNone(checkDocstrings));
