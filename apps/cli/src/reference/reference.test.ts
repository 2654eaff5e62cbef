import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { CLIENT_VARIABLES } from "@millrace/protocol";
import type { Command } from "commander";
import { createProgram } from "../program.ts";
import { DIFFERENCES } from "./differences.table.ts";
import { OFFICIAL_COMMANDS, OFFICIAL_GLOBAL_OPTIONS, OFFICIAL_GROUPS } from "./official-cli.table.ts";
import { referencePage } from "./reference-page.ts";

const PAGE = fileURLToPath(new URL("../../../../docs/reference/cli.md", import.meta.url));
const program = createProgram(() => async () => {});

/** The command that stands at a place, found by full names or by short ones. */
function commandAt(words: readonly string[]): Command {
  let command: Command = program;
  for (const word of words) {
    const child = command.commands.find((one) => one.name() === word || one.aliases().includes(word));
    assert.ok(child !== undefined, `there is no command ${words.join(" ")}`);
    command = child;
  }
  return command;
}

function flagsOf(command: Command): string[] {
  return command.options.map(({ short, long }) =>
    [short, long].filter((flag) => flag !== undefined).join(", "),
  );
}

/** The shape of a command's arguments: one word each, `[]` when it may be left out, `...` when it repeats. */
function shapeOf(words: string): string[] {
  return words
    .split(" ")
    .filter((word) => word !== "")
    .map((word) => `${word.startsWith("[") ? "[]" : "X"}${word.endsWith("...") ? "..." : ""}`);
}

test("every command of the reference exists under its name and its short name, with its arguments", () => {
  for (const { place, alias, words = "" } of OFFICIAL_COMMANDS) {
    const names = place.split(" ");
    const command = commandAt(names);
    const short = names.length === 2 ? [OFFICIAL_GROUPS[names[0] ?? ""] ?? names[0] ?? ""] : [];
    if (alias !== undefined) assert.equal(commandAt([...short, alias]), command, `${place} is ${alias}`);
    const shape = command.registeredArguments.map(
      ({ required, variadic }) => `${required ? "X" : "[]"}${variadic ? "..." : ""}`,
    );
    assert.deepEqual(shape, shapeOf(words), place);
  }
});

test("the page names every variable that a server leaves to this command", () => {
  const page = referencePage(program);
  const named = new Set(page.match(/`MILLRACE_\w+`/g));
  assert.deepEqual(
    CLIENT_VARIABLES.map((name) => `\`${name}\``).filter((name) => !named.has(name)),
    [],
  );
  assert.equal(named.size, CLIENT_VARIABLES.length);
});

test("every option of the reference exists in its short and its long form", () => {
  for (const { place, options = "" } of OFFICIAL_COMMANDS) {
    const flags = flagsOf(commandAt(place.split(" ")));
    for (const option of options.split("  ").filter((one) => one !== "")) {
      assert.ok(flags.includes(option), `${place} ${option}; it has ${flags.join(" ")}`);
    }
  }
  const flags = flagsOf(program);
  for (const option of OFFICIAL_GLOBAL_OPTIONS) assert.ok(flags.includes(option), option);
});

test("values of the reference that are not taken here are on the page of differences", () => {
  const page = DIFFERENCES.map(([there]) => there).join("\n");
  const choicesOf = (long: string) =>
    program.options.find((option) => option.long === long)?.argChoices ?? [];
  for (const transport of ["tcp", "quic", "http", "ws"])
    assert.ok(choicesOf("--transport").includes(transport));
  for (const shell of ["bash", "zsh", "fish", "elvish", "powershell"]) {
    assert.ok(choicesOf("--generate").includes(shell) || page.includes(`--generate ${shell}`), shell);
  }
});

test("the page of the command line is that of the tree", () => {
  const page = referencePage(program);
  if (process.env["MILLRACE_WRITE_REFERENCE"] === "1") writeFileSync(PAGE, page);
  assert.equal(
    readFileSync(PAGE, "utf8"),
    page,
    "write it with: MILLRACE_WRITE_REFERENCE=1 node ../../tools/test.mjs reference",
  );
});
