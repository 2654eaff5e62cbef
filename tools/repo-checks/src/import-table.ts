import { MAY_IMPORT, NODE_ROOMS, WITHOUT_NODE } from "./import-rules.table.ts";
import { type Finding, isTestFile, type SourceFile, workspaceOf } from "./source-file.ts";

interface Import {
  readonly specifier: string;
  readonly line: number;
}

function importsOf(file: SourceFile): Import[] {
  const found: Import[] = [];
  const add = (request: { value: string; start: number } | null | undefined) => {
    if (request) found.push({ specifier: request.value, line: file.lineAt(request.start) });
  };
  for (const one of file.module.staticImports) add(one.moduleRequest);
  for (const one of file.module.staticExports) for (const entry of one.entries) add(entry.moduleRequest);
  for (const one of file.module.dynamicImports) {
    const text = file.text.slice(one.moduleRequest.start, one.moduleRequest.end);
    const literal = /^["'`]([^"'`$]+)["'`]$/.exec(text)?.[1];
    if (literal !== undefined) add({ value: literal, start: one.moduleRequest.start });
  }
  return found;
}

/** Where a relative specifier leads, as a path from the root. */
function resolved(from: string, specifier: string): string {
  const parts = from.split("/").slice(0, -1);
  for (const step of specifier.split("/")) {
    if (step === "..") parts.pop();
    else if (step !== ".") parts.push(step);
  }
  return parts.join("/");
}

function checkPackageImport(file: SourceFile, one: Import): Finding | undefined {
  const [kind, own = ""] = workspaceOf(file.path).split("/");
  const [, target = "", ...subpath] = one.specifier.split("/");
  const at = { path: file.path, line: one.line };
  if (subpath[0] === "src" || subpath[0] === "dist") {
    return {
      ...at,
      rule: `imports the inside of @millrace/${target}`,
      fix: "import from its front door (index.ts)",
    };
  }
  if (kind !== "packages" || target === "errors" || target === own) return undefined;
  if (isTestFile(file.path)) return undefined;
  const allowed = MAY_IMPORT[own];
  if (allowed === undefined)
    return { ...at, rule: `package ${own} has no row in the import table`, fix: "add one" };
  if (!allowed.includes(target)) {
    const fix = `${own} may import only: errors, ${allowed.join(", ") || "nothing more"}; move the line or the thing it needs`;
    return { ...at, rule: `${own} imports ${target}, an edge the table does not have`, fix };
  }
  if (target === "platform" && subpath.length > 0 && !/default-platform\.ts$/.test(file.path)) {
    return {
      ...at,
      rule: "imports an implementation of platform",
      fix: "take the interface; apps hand the implementation in",
    };
  }
  return undefined;
}

function checkNodeImport(file: SourceFile, one: Import): Finding | undefined {
  const [kind, own = ""] = workspaceOf(file.path).split("/");
  if (kind !== "packages" || isTestFile(file.path) || own === "testkit") return undefined;
  const room = NODE_ROOMS[own];
  if (!WITHOUT_NODE.includes(own) && (room === undefined || room.test(file.path))) return undefined;
  return {
    path: file.path,
    line: one.line,
    rule: `imports ${one.specifier} outside the rooms for Node`,
    fix: "ask the platform for it",
  };
}

function checkRelativeImport(file: SourceFile, one: Import): Finding | undefined {
  const target = resolved(file.path, one.specifier);
  const own = workspaceOf(file.path);
  if (workspaceOf(target) !== own) {
    return {
      path: file.path,
      line: one.line,
      rule: "reaches into another package by path",
      fix: "import its name",
    };
  }
  if (own !== "packages/transports") return undefined;
  const [from, to] = [file.path, target].map((path) => path.split("/")[3] ?? "");
  const isFolder = (name: string) => ["tcp", "websocket", "http", "grpc", "replica", "memory"].includes(name);
  if (from === to || !isFolder(from ?? "") || !isFolder(to ?? "")) return undefined;
  if (isTestFile(file.path)) return undefined;
  return {
    path: file.path,
    line: one.line,
    rule: "one transport imports another",
    fix: "move the shared part beside them",
  };
}

/** Import edges that the table of the style guide does not have. */
export function checkImports(file: SourceFile): Finding[] {
  return importsOf(file).flatMap((one) => {
    const check = one.specifier.startsWith("@millrace/")
      ? checkPackageImport
      : one.specifier.startsWith("node:")
        ? checkNodeImport
        : one.specifier.startsWith(".")
          ? checkRelativeImport
          : undefined;
    const finding = check?.(file, one);
    return finding === undefined ? [] : [finding];
  });
}
