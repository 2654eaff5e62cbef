import { readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { SeededRandom } from "@millrace/testkit";

/** What is done to one file while no server runs. Positions and lengths are bytes. */
export type Change =
  | { readonly kind: "flip"; readonly position: number; readonly bit: number }
  | { readonly kind: "cut"; readonly length: number }
  | { readonly kind: "remove" };

/** A change of one file, and which file that is. */
export interface Damage {
  /** Relative to the data folder. */
  readonly path: string;
  readonly change: Change;
  /** Length of the file before. */
  readonly fileLength: number;
}

/**
 * The kinds of files that are damaged, in the stream of the messages and in the metadata; each is as frequent
 * as the others, however many files it has.
 */
const PATTERNS: readonly RegExp[] = [
  /^streams\/0\/.*\.log$/,
  /^streams\/0\/.*\.ops$/,
  /^streams\/0\/.*\.index$/,
  /^metadata\/journal-\d+\.wal$/,
  /^metadata\/snapshot\.bin$/,
  /^metadata\/superblock\.[ab]$/,
];
/**
 * Of a kind with many files in many folders, one in this many is the newest of its folder: the active
 * segment.
 */
const NEWEST_CHANCE = 0.5;
const CUTS_SHORT_MAX = 5000;

/** Chooses a file of a data folder and what happens to it. */
export function chooseDamage(random: SeededRandom, folder: string): Damage {
  const all = filesBelow(folder).filter((path) => statSync(join(folder, path)).size > 0);
  const kinds = PATTERNS.map((pattern) => all.filter((path) => pattern.test(path)));
  const files = random.pick(kinds.filter(({ length }) => length > 0));
  const chosen = random.pick(files);
  const siblings = files.filter((path) => folderOf(path) === folderOf(chosen)).sort(byAge);
  const path = random.fraction() < NEWEST_CHANCE ? (siblings.at(-1) ?? chosen) : chosen;
  const fileLength = statSync(join(folder, path)).size;
  return { path, fileLength, change: chooseChange(random, fileLength) };
}

function chooseChange(random: SeededRandom, length: number): Change {
  const dice = random.below(10);
  if (dice < 5) return { kind: "flip", position: random.below(length), bit: random.below(8) };
  if (dice === 9) return { kind: "remove" };
  // Short cuts are as frequent as long ones on a logarithmic scale; now and then nothing is left.
  const cut = dice === 8 ? length : Math.ceil(Math.min(length, CUTS_SHORT_MAX) ** random.fraction());
  return { kind: "cut", length: length - cut };
}

/** Does the damage below a data folder. */
export function applyDamage(folder: string, { path, change }: Damage): void {
  const file = join(folder, path);
  if (change.kind === "remove") rmSync(file);
  else if (change.kind === "cut") truncateSync(file, change.length);
  else {
    const bytes = readFileSync(file);
    bytes[change.position] = (bytes[change.position] ?? 0) ^ (1 << change.bit);
    writeFileSync(file, bytes);
  }
}

/** A damage as a line of a run names it. */
export function describeDamage({ path, change, fileLength }: Damage): string {
  if (change.kind === "remove") return `${path} removed`;
  if (change.kind === "cut") return `${path} cut from ${fileLength} to ${change.length} bytes`;
  return `${path}: bit ${change.bit} of byte ${change.position} of ${fileLength} flipped`;
}

/** Files below a folder, relative to it. */
export function filesBelow(folder: string, below = ""): string[] {
  return readdirSync(join(folder, below), { withFileTypes: true }).flatMap((entry) => {
    const path = below === "" ? entry.name : `${below}/${entry.name}`;
    return entry.isDirectory() ? filesBelow(folder, path) : [path];
  });
}

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/"));
}

/** Segments of a later purge generation come after those of an earlier one. */
function byAge(left: string, right: string): number {
  const age = (path: string) => {
    const [, first = "", generation = "0"] = /^(\d+)(?:\.g(\d+))?\./.exec(basename(path)) ?? [];
    return `${generation.padStart(20, "0")} ${first}`;
  };
  return age(left) < age(right) ? -1 : 1;
}
