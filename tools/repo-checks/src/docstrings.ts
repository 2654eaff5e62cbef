import type { Node } from "oxc-parser";
import { type Finding, isTestFile, type SourceFile } from "./source-file.ts";

/** Start of the line that follows a comment's end and the white space behind it. */
function startsRightAfter(file: SourceFile, end: number, start: number): boolean {
  return /^\s*(?:(?:\/\/[^\n]*\n)\s*)*$/.test(file.text.slice(end, start));
}

function hasDocstring(file: SourceFile, start: number): boolean {
  return file.comments.some(
    (comment) =>
      comment.type === "Block" && comment.value.startsWith("*") && startsRightAfter(file, comment.end, start),
  );
}

function exportedName(node: Node): string {
  if (!("declaration" in node) || node.declaration === null) return "default";
  const declaration = node.declaration as Node;
  if (declaration.type === "VariableDeclaration") {
    const id = declaration.declarations[0]?.id;
    return id?.type === "Identifier" ? id.name : "a pattern";
  }
  return "id" in declaration && declaration.id !== null && "name" in declaration.id
    ? String(declaration.id.name)
    : "default";
}

/**
 * Exports without a docstring, and front doors without a package docstring. Re-exports carry their source's.
 */
export function checkDocstrings(file: SourceFile): Finding[] {
  if (isTestFile(file.path) || /^(tools|examples)\//.test(file.path)) return [];
  const found: Finding[] = [];
  const overloaded = new Set<string>();
  for (const node of file.program.body) {
    const isExport = node.type === "ExportNamedDeclaration" || node.type === "ExportDefaultDeclaration";
    if (!isExport || !("declaration" in node) || node.declaration === null) continue;
    const name = exportedName(node);
    if (hasDocstring(file, node.start)) overloaded.add(name);
    else if (!overloaded.has(name)) {
      const fix = "say what it does, then what the types cannot: shape, units, limits, owner, errors, source";
      found.push({ path: file.path, line: file.lineAt(node.start), rule: `${name} has no docstring`, fix });
    }
  }
  if (/^packages\/[^/]+\/src\/index\.ts$/.test(file.path) && !file.text.includes("@packageDocumentation")) {
    const fix = "begin it with a docstring that holds a runnable example and @packageDocumentation";
    found.push({ path: file.path, line: 1, rule: "the front door has no package docstring", fix });
  }
  return found;
}
