import type { Node } from "oxc-parser";
import { BANNED_GLOBALS, BANNED_IN, NODE_ROOMS } from "./import-rules.table.ts";
import { type Finding, isTestFile, type SourceFile, workspaceOf } from "./source-file.ts";
import { walk } from "./syntax-walk.ts";

/** Name a node uses as a value: `Date`, or `Math.random` for a member of a global. */
function usedName(node: Node, parent: Node | undefined): string | undefined {
  if (node.type === "MemberExpression" && node.object.type === "Identifier") {
    return node.property.type === "Identifier" ? `${node.object.name}.${node.property.name}` : undefined;
  }
  if (node.type !== "Identifier") return undefined;
  if (parent?.type === "MemberExpression" && parent.property === node && !parent.computed) return undefined;
  if (parent?.type === "Property" && parent.key === node && !parent.shorthand) return undefined;
  const names = [
    "TSTypeReference",
    "TSQualifiedName",
    "TSPropertySignature",
    "PropertyDefinition",
    "MethodDefinition",
  ];
  return parent !== undefined && names.includes(parent.type) ? undefined : node.name;
}

/** Uses of clocks, chance, timers and the process in packages that must ask the platform for them. */
export function checkGlobals(file: SourceFile): Finding[] {
  const [kind, own = ""] = workspaceOf(file.path).split("/");
  const banned = kind === "packages" ? BANNED_IN[own] : undefined;
  if (banned === undefined || isTestFile(file.path) || NODE_ROOMS[own]?.test(file.path)) return [];
  const found: Finding[] = [];
  walk(file.program, (node, parent) => {
    const name = usedName(node, parent);
    if (name === undefined || !banned.includes(name)) return;
    const fix =
      name === "Promise" ? "return outputs; the host does the waiting" : `use ${BANNED_GLOBALS[name]}`;
    found.push({ path: file.path, line: file.lineAt(node.start), rule: `${own} uses ${name}`, fix });
  });
  return found;
}
