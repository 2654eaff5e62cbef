import type { Node } from "oxc-parser";
import { type Finding, isTestFile, type SourceFile } from "./source-file.ts";
import { walk } from "./syntax-walk.ts";

/** Longest source file in lines; past 300 there is usually a second idea in it. Tables are exempt. */
const FILE_LINES_MAX = 500;
/** Longest function in lines. Tests' callbacks are stories and are exempt; product code is not. */
export const FUNCTION_LINES_MAX = 70;
/** Longest line in columns. Long texts in one string and addresses in comments are left to the formatter. */
const COLUMNS_MAX = 110;

const FUNCTIONS = new Set<Node["type"]>([
  "FunctionDeclaration",
  "FunctionExpression",
  "ArrowFunctionExpression",
]);

function checkFile(file: SourceFile): Finding[] {
  const lines = file.text.split("\n").length - 1;
  if (lines <= FILE_LINES_MAX) return [];
  const fix = "find the second idea in it and give it a file of its own";
  return [{ path: file.path, line: 1, rule: `${lines} lines, more than ${FILE_LINES_MAX}`, fix }];
}

function checkFunctions(file: SourceFile): Finding[] {
  if (isTestFile(file.path)) return [];
  const found: Finding[] = [];
  walk(file.program, (node) => {
    if (!FUNCTIONS.has(node.type)) return;
    const first = file.lineAt(node.start);
    const lines = file.lineAt(node.end) - first + 1;
    if (lines <= FUNCTION_LINES_MAX) return;
    const rule = `a function of ${lines} lines, more than ${FUNCTION_LINES_MAX}`;
    found.push({
      path: file.path,
      line: first,
      rule,
      fix: "keep the branches, move what the leaves compute",
    });
  });
  return found;
}

function checkColumns(file: SourceFile): Finding[] {
  return file.text.split("\n").flatMap((text, index) => {
    const isExempt = text.length <= COLUMNS_MAX || /["'`].{60,}["'`]|https?:|biome-ignore/.test(text);
    if (isExempt) return [];
    const rule = `${text.length} columns, more than ${COLUMNS_MAX}`;
    return [{ path: file.path, line: index + 1, rule, fix: "break the line" }];
  });
}

/** Files, functions and lines that are too long. */
export function checkLengths(file: SourceFile): Finding[] {
  if (file.path.endsWith(".table.ts")) return [];
  return [...checkFile(file), ...checkFunctions(file), ...checkColumns(file)];
}
