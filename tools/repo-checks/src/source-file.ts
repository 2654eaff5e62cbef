import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { type Comment, type ParseResult, parseSync } from "oxc-parser";

/** One parsed source file of the workspace. */
export interface SourceFile {
  /** Path from the root of the repository, with `/`. */
  readonly path: string;
  readonly text: string;
  readonly program: ParseResult["program"];
  readonly module: ParseResult["module"];
  readonly comments: readonly Comment[];
  /** 1-based line of a place in the text. */
  lineAt(position: number): number;
}

/** One broken rule: where, what, and how to mend it. */
export interface Finding {
  readonly path: string;
  readonly line: number;
  readonly rule: string;
  readonly fix: string;
}

/** Parses one text as if it stood at `path`. */
export function parseSource(path: string, text: string): SourceFile {
  const { program, module, comments } = parseSync(path, text);
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  const lineAt = (position: number) => starts.findLastIndex((start) => start <= position) + 1;
  return { path, text, program, module, comments, lineAt };
}

const SKIPPED = new Set(["node_modules", "dist", "testdata", ".turbo", ".cache", ".git", "local_data"]);

function pathsBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (SKIPPED.has(entry.name)) return [];
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return pathsBelow(path);
    return entry.isFile() && /\.(ts|mts)$/.test(entry.name) && !entry.name.endsWith(".d.ts") ? [path] : [];
  });
}

/**
 * Every TypeScript file of packages, apps, tools and examples, parsed; kernels in AssemblyScript left out.
 */
export function readSources(root: string): SourceFile[] {
  return ["packages", "apps", "tools", "examples"]
    .flatMap((folder) => pathsBelow(join(root, folder)))
    .map((path) => relative(root, path).replaceAll("\\", "/"))
    .filter((path) => !path.includes("/kernel/"))
    .sort()
    .map((path) => parseSource(path, readFileSync(join(root, path), "utf8")));
}

/** True for tests, benches and compliance suites: rules for product code do not bind them. */
export function isTestFile(path: string): boolean {
  return /\.(test|bench|compliance)\.ts$/.test(path) || path.includes("/testing/");
}

/** `packages/storage`, `apps/cli`, `tools/bench`: the workspace folder a path lies in. */
export function workspaceOf(path: string): string {
  return path.split("/").slice(0, 2).join("/");
}
