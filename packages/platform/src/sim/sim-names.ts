import { diskError } from "../disk-error.ts";
import { parentDiskPath } from "../disk-path.ts";
import type { SimContent } from "./sim-content.ts";
import type { SimRandom } from "./sim-random.ts";

/** What a name stands for: a file with its content, or a directory. */
export type SimNode = { readonly kind: "file"; content: SimContent } | { readonly kind: "directory" };

/**
 * One change of the name space; a rename is one change, so a crash keeps it whole or not at all, and it is of
 * one node: never of another that had the name before.
 */
type NameChange =
  | { readonly kind: "set"; readonly path: string; readonly node: SimNode }
  | { readonly kind: "remove"; readonly path: string }
  | { readonly kind: "rename"; readonly from: string; readonly to: string; readonly node: SimNode };

type Names = Map<string, SimNode>;

/** The name space of a simulated disk: as it looks, and what of it would survive power loss. */
export class SimNames {
  #live: Names = new Map();
  #durable: Names = new Map();
  #pending: NameChange[] = [];

  find(path: string): SimNode | undefined {
    return path === "" ? { kind: "directory" } : this.#live.get(path);
  }

  /** Names right below `path`, sorted. */
  list(path: string): readonly string[] {
    const prefix = path === "" ? "" : `${path}/`;
    const below = [...this.#live.keys()].filter((name) => name.startsWith(prefix));
    const names = below.map((name) => name.slice(prefix.length)).filter((name) => !name.includes("/"));
    return names.sort();
  }

  files(): readonly SimContent[] {
    return [...this.#live.values()].flatMap((node) => (node.kind === "file" ? [node.content] : []));
  }

  set(path: string, node: SimNode): void {
    if (this.find(parentDiskPath(path))?.kind !== "directory") {
      throw diskError({ operation: "create", path, errno: "ENOENT" });
    }
    this.#change({ kind: "set", path, node });
  }

  remove(path: string): void {
    this.#change({ kind: "remove", path });
  }

  rename(from: string, to: string): void {
    const source = this.find(from);
    const target = this.find(to);
    const parent = this.find(parentDiskPath(to));
    const errno = renameFault(source, target, parent, this.list(to).length);
    if (errno !== undefined) throw diskError({ operation: "rename", path: from, errno });
    if (from !== to && source !== undefined) this.#change({ kind: "rename", from, to, node: source });
  }

  /**
   * Begins to make the changes durable that touch names right below `path`, and answers what ends it. Those
   * that come meanwhile are not covered.
   */
  beginSync(path: string): () => void {
    const covered = new Set(this.#pending.filter((change) => touches(change, path)));
    return () => {
      for (const change of this.#pending) if (covered.has(change)) apply(this.#durable, change);
      this.#pending = this.#pending.filter((change) => !covered.has(change));
    };
  }

  /**
   * The names after power loss: the durable ones and those unsynced changes that `keeps` accepts, in order.
   */
  afterCrash(keeps: () => boolean, random: SimRandom, keep: "none" | "all" | "random"): SimNames {
    const left = new SimNames();
    const names = new Map(this.#durable);
    for (const change of this.#pending) if (keeps()) apply(names, change);
    left.#live = copyOf(reachable(names), (content) => content.afterCrash(keep, random));
    left.#durable = new Map(left.#live);
    return left;
  }

  /** The same names for the process that comes after a killed one. */
  afterKill(): SimNames {
    const left = new SimNames();
    const nodes = new Map<SimNode, SimNode>();
    const again = (node: SimNode) => {
      if (node.kind === "directory") return node;
      const known = nodes.get(node) ?? { kind: "file", content: node.content.afterKill() };
      nodes.set(node, known);
      return known;
    };
    left.#live = new Map([...this.#live].map(([path, node]) => [path, again(node)]));
    left.#durable = new Map([...this.#durable].map(([path, node]) => [path, again(node)]));
    left.#pending = this.#pending.map((one) =>
      one.kind === "remove" ? one : { ...one, node: again(one.node) },
    );
    return left;
  }

  #change(change: NameChange): void {
    apply(this.#live, change);
    this.#pending.push(change);
  }
}

function renameFault(
  source: SimNode | undefined,
  target: SimNode | undefined,
  parent: SimNode | undefined,
  targetEntries: number,
): string | undefined {
  if (source === undefined || parent?.kind !== "directory") return "ENOENT";
  if (target === undefined) return undefined;
  if (source.kind === "file") return target.kind === "directory" ? "EISDIR" : undefined;
  if (target.kind === "file") return "ENOTDIR";
  return targetEntries > 0 ? "ENOTEMPTY" : undefined;
}

/** Makes one change; what it needs may be gone after a crash, then it changes nothing. */
function apply(names: Names, change: NameChange): void {
  if (change.kind === "set") names.set(change.path, change.node);
  else if (change.kind === "remove") moveBelow(names, change.path, undefined);
  else if (names.get(change.from) === change.node) moveBelow(names, change.from, change.to);
}

/** Moves a name and all below it to another name, or to nowhere. */
function moveBelow(names: Names, from: string, to: string | undefined): void {
  for (const [path, node] of [...names]) {
    if (path !== from && !path.startsWith(`${from}/`)) continue;
    names.delete(path);
    if (to !== undefined) names.set(to + path.slice(from.length), node);
  }
}

function touches(change: NameChange, directory: string): boolean {
  if (change.kind !== "rename") return parentDiskPath(change.path) === directory;
  return parentDiskPath(change.from) === directory || parentDiskPath(change.to) === directory;
}

/** Without the names whose directory did not survive. */
function reachable(names: Names): Names {
  const found: Names = new Map();
  for (const path of [...names.keys()].sort()) {
    const parent = parentDiskPath(path);
    if (parent === "" || found.get(parent)?.kind === "directory") found.set(path, names.get(path) as SimNode);
  }
  return found;
}

function copyOf(names: Names, content: (before: SimContent) => SimContent): Names {
  const copies = new Map<SimNode, SimNode>();
  for (const node of names.values()) {
    if (!copies.has(node))
      copies.set(node, node.kind === "file" ? { kind: "file", content: content(node.content) } : node);
  }
  return new Map([...names].map(([path, node]) => [path, copies.get(node) as SimNode]));
}
