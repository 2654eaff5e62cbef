import Table from "cli-table3";
import type pc from "picocolors";
import { writeJson } from "./json-writer.ts";
import type { Part, Result } from "./result.ts";
import { writeToml } from "./toml-writer.ts";

/** Colours that a terminal shows, or that leave text as it is. */
export type Colors = ReturnType<typeof pc.createColors>;

/** How answers are printed. `toml` is offered by `stats` only. */
export type OutputMode = "table" | "list" | "json" | "toml";

/**
 * Text of an answer in one of the output modes, ending with a newline.
 *
 * `table` draws boxes, `list` prints one line per row or property with its fields joined by `|`, `json`
 * prints one document with exact numbers.
 */
export function render(result: Result, mode: OutputMode, colors: Colors): string {
  if (mode === "json") return `${writeJson(result.json)}\n`;
  if (mode === "toml") return writeToml(result.json);
  const paint = mode === "table" ? (part: Part) => partAsTable(part, colors) : partAsList;
  return result.parts.map((part) => `${paint(part)}\n`).join("");
}

function partAsTable(part: Part, colors: Colors): string {
  if (part.kind === "sentence") return part.text;
  if (part.kind === "properties") return drawTable(["Property", "Value"], part.rows, colors);
  return part.rows.length === 0 ? part.empty : drawTable(part.titles, part.rows, colors);
}

function drawTable(titles: readonly string[], lines: readonly (readonly string[])[], colors: Colors): string {
  const table = new Table({
    head: titles.map((title) => colors.bold(title)),
    style: { head: [], border: [], compact: true, "padding-left": 1, "padding-right": 1 },
  });
  for (const line of lines) table.push([...line]);
  return table.toString();
}

function partAsList(part: Part): string {
  if (part.kind === "sentence") return part.text;
  const lines = part.rows.map((row) => row.join("|"));
  return part.kind === "rows" && lines.length === 0 ? part.empty : lines.join("\n");
}
