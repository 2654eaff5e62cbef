import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { readSources, workspaceOf } from "./source-file.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const SKIPPED = new Set(["node_modules", "dist", ".turbo", ".cache", ".git", "local_data"]);

function documentsBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    if (SKIPPED.has(entry.name)) return [];
    const path = join(folder, entry.name);
    return entry.isDirectory() ? documentsBelow(path) : path.endsWith(".md") ? [path] : [];
  });
}

/** Targets of Markdown links that lead to a place in the repository, without their `#section`. */
function localLinks(text: string): string[] {
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = ""]) => target.replace(/#.*$/, ""))
    .filter((target) => target !== "" && !/^[a-z]+:/.test(target));
}

test("every link of a document leads to a file or folder", () => {
  const dead = documentsBelow(".").flatMap((path) =>
    localLinks(readFileSync(join(root, path), "utf8"))
      .filter((target) => !existsSync(join(root, dirname(path), target)))
      .map((target) => `${path}: ${target}`),
  );
  assert.deepEqual(dead, []);
});

test("every promise names tests, and each of them exists", () => {
  const page = readFileSync(join(root, "docs", "promises.md"), "utf8");
  const rows = [...page.matchAll(/^\| (P\d+) \| (\S+\.test\.ts) \| (.+) \|$/gm)];
  assert.deepEqual(
    [...new Set(rows.map(([, promise]) => promise))],
    Array.from({ length: 12 }, (_, index) => `P${index + 1}`),
  );
  for (const [, promise = "", path = "", title = ""] of rows) {
    const text = readFileSync(join(root, path), "utf8");
    assert.ok(text.includes(`"${title}"`), `${promise}: no test "${title}" in ${path}`);
  }
});

test("every command of our own has a section on its page, under its code", () => {
  const table = readFileSync(join(root, "packages", "protocol", "src", "command.table.ts"), "utf8");
  const page = readFileSync(join(root, "docs", "spec", "own-commands.md"), "utf8");
  const commands = [...table.matchAll(/^ {2}(\w+): (20_?\d{3}),$/gm)];
  assert.ok(commands.length > 0);
  assert.deepEqual(
    [...page.matchAll(/^## (.+)$/gm)].map(([, title]) => title),
    commands.map(([, name, code = ""]) => `${code.replace("_", "")} ${name}`),
  );
});

test("every decision record has a number of its own, which its title repeats, and a status", () => {
  const folder = join(root, "docs", "adr");
  const names = readdirSync(folder);
  assert.equal(new Set(names.map((name) => name.slice(0, 4))).size, names.length);
  for (const name of names) {
    const text = readFileSync(join(folder, name), "utf8");
    assert.match(text, new RegExp(`^# ${name.slice(0, 4)}: .+\\n\\nStatus: accepted`), name);
  }
});

/** Workspaces whose errors reach a client or an operator of the server. */
const ANSWERING = /^(packages\/(?!client|testkit|errors)|apps\/server)/;
const CODE = /\bErrorCode\.([A-Z][A-Za-z]+)/g;

test("every error code that the server can give is named by a test", () => {
  const sources = readSources(root);
  const isTest = (path: string) => /\.(test|compliance)\.ts$/.test(path);
  const tested = new Set<string>();
  const given = new Map<string, string>();
  for (const { path, text } of sources) {
    for (const [, name = ""] of text.matchAll(CODE)) {
      if (isTest(path)) tested.add(name);
      else if (ANSWERING.test(workspaceOf(path))) given.set(name, path);
    }
  }
  assert.ok(given.size > 40);
  const untested = [...given]
    .filter(([name]) => !tested.has(name))
    .map(([name, path]) => `${name} (${path})`);
  assert.deepEqual(untested, []);
});
