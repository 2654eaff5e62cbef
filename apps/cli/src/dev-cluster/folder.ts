import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { UsageError } from "../failures/usage-error.ts";
import { configText, type DevNode } from "./plan.ts";

/** Where a cluster keeps its files, and whether it still does when it has stopped. */
export interface ClusterFolder {
  readonly path: string;
  readonly isKept: boolean;
  /** Removes the files unless they are kept. */
  release(): void;
}

/**
 * The folder that was named, which is always kept, or a new one in the system's place for temporary files.
 * @throws UsageError when the folder holds a cluster of another number of nodes
 */
export function openFolder(named: string | undefined, keep: boolean, nodesCount: number): ClusterFolder {
  if (named === undefined) {
    const path = mkdtempSync(join(tmpdir(), "millrace-dev-cluster-"));
    const release = () => (keep ? undefined : rmSync(path, { recursive: true, force: true }));
    return { path, isKept: keep, release };
  }
  const path = resolve(named);
  mkdirSync(path, { recursive: true });
  const before = nodesIn(path);
  if (before !== 0 && before !== nodesCount) {
    throw new UsageError(
      `${path} holds a cluster of ${before} nodes, and nodes cannot be added or taken away: ` +
        `use --nodes ${before}, or another folder.`,
    );
  }
  return { path, isKept: true, release: () => {} };
}

/** Writes each node's file; the ports of an earlier run are forgotten. */
export function writeConfigs(nodes: readonly DevNode[]): void {
  for (const node of nodes) writeFileSync(node.config, configText(node, nodes));
}

/** Nodes that an earlier run has left in a folder, by their files. */
function nodesIn(path: string): number {
  return readdirSync(path).filter((name) => /^n\d+\.toml$/.test(name)).length;
}
