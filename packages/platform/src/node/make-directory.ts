import fs from "node:fs/promises";
import { dirname } from "node:path";
import { hasErrno } from "./file-calls.ts";

/**
 * Makes a directory and its parents; no error when it exists.
 *
 * Node's own `mkdir` with `recursive` tries for ever where a parent exists and takes no directories, as in
 * `/proc`.
 */
export async function makeDirectory(path: string, mode: number): Promise<void> {
  try {
    await makeOne(path, mode);
  } catch (error) {
    if (!hasErrno(error, "ENOENT") || dirname(path) === path) throw error;
    await makeDirectory(dirname(path), mode);
    await makeOne(path, mode);
  }
}

async function makeOne(path: string, mode: number): Promise<void> {
  try {
    await fs.mkdir(path, mode);
  } catch (error) {
    const isThere = hasErrno(error, "EEXIST") && (await fs.stat(path)).isDirectory();
    if (!isThere) throw error;
  }
}
