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

type Lines = readonly (readonly string[])[];

/** The library takes the square of the rows: more than so many are drawn in pieces of one width. */
const ROWS_AT_ONCE = 100;
/** The line above the titles, they, and the line below them. */
const HEAD_LINES = 3;

function drawTable(titles: readonly string[], lines: Lines, colors: Colors): string {
  if (lines.length <= ROWS_AT_ONCE) return tableOf(titles, lines, colors).toString();
  const pieces: Lines[] = [];
  for (let at = 0; at < lines.length; at += ROWS_AT_ONCE) pieces.push(lines.slice(at, at + ROWS_AT_ONCE));
  const colWidths = titles.map(() => 0);
  for (const piece of pieces) {
    for (const [column, width] of widthsOf(tableOf(titles, piece, colors)).entries())
      colWidths[column] = Math.max(colWidths[column] ?? 0, width);
  }
  const drawn = pieces.map((piece, index) => {
    const all = tableOf(titles, piece, colors, { colWidths }).toString().split("\n");
    return all.slice(index === 0 ? 0 : HEAD_LINES, index === pieces.length - 1 ? undefined : -1);
  });
  return drawn.flat().join("\n");
}

/** Known once it was drawn. */
function widthsOf(table: Table.Table): number[] {
  table.toString();
  return table.options.colWidths.map((width) => width ?? 0);
}

function tableOf(
  titles: readonly string[],
  lines: Lines,
  colors: Colors,
  more: { readonly colWidths?: number[] } = {},
): Table.Table {
  const table = new Table({
    ...more,
    head: titles.map((title) => colors.bold(title)),
    style: { head: [], border: [], compact: true, "padding-left": 1, "padding-right": 1 },
  });
  for (const line of lines) table.push([...line]);
  return table;
}

function partAsList(part: Part): string {
  if (part.kind === "sentence") return part.text;
  const lines = part.rows.map((row) => row.join("|"));
  return part.kind === "rows" && lines.length === 0 ? part.empty : lines.join("\n");
}
