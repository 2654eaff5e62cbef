import { randomUUID } from "node:crypto";
import fs from "node:fs";
import { link, readdir, readFile, unlink, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { CodedError, ErrorCode } from "@millrace/errors";
import type { DiskLock } from "../disk.ts";
import { hasErrno } from "./file-calls.ts";
import { tryFileLock } from "./file-lock.ts";
import { isAlive, ownIdentity, type ProcessIdentity } from "./process-identity.ts";

/** What a lock file says. The token is unique to one attempt and never used twice. */
interface Holder extends ProcessIdentity {
  readonly token: string;
}

/** Rounds of "look, then try" before giving up; each lost round means that another process made progress. */
const ROUNDS_MAX = 100;

/** How long to leave another process alone that is removing a dead holder's lock: a few system calls. */
const TAKER_DELAY_MS = 5;

/**
 * Stands for a holder whose file does not parse: left by power loss, since a lock file is complete at birth.
 */
const UNREADABLE: Holder = { pid: 0, startTicks: "", bootId: "", token: "unreadable" };

const open = promisify(fs.open);
const close = promisify(fs.close);

/**
 * Takes the lock file at `path` (absolute) for this process until `release` or its end, however it ends.
 *
 * A private file with the holder's identity is hard-linked to the lock's name, so the lock is complete when
 * it appears and only one of two racers gets the name. A dead holder's lock is taken over: the right to
 * remove it is a link of its own, `{lock}.take.{token of the dead}.{k}`, held by one live process at a time,
 * so a lock is never removed on the strength of a mere look.
 *
 * Pids of another container mean nothing here. Therefore the holder keeps the kernel's lock on its file too,
 * where there is one, and a holder that seems dead but still has that lock is alive.
 *
 * @throws CodedError `DataDirectoryInUse` with the pid and path of a live holder; system errors as they come
 */
export async function takeProcessLock(path: string): Promise<DiskLock> {
  const own: Holder = { ...ownIdentity(), token: randomUUID() };
  const ownPath = `${path}.own.${own.token}`;
  const fd = await openOwnFile(ownPath, own);
  try {
    await acquire(path, ownPath);
    await sweepLeftovers(path);
  } catch (error) {
    await removeOwn(path, own).finally(() => close(fd));
    throw error;
  } finally {
    await unlinkIfPresent(ownPath);
  }
  let released: Promise<void> | undefined;
  const release = () => {
    released ??= removeOwn(path, own).finally(() => close(fd));
    return released;
  };
  return { release };
}

/**
 * Writes the own file and locks it; the descriptor stays open as long as the lock is held. A full disk must
 * not keep a server from starting on the data it has: there the kernel's lock alone says that we hold it.
 */
async function openOwnFile(ownPath: string, own: Holder): Promise<number> {
  const fd = await open(ownPath, "wx", 0o600);
  try {
    const diskFull = await writeHolder(ownPath, fd, own);
    const outcome = await tryFileLock(fd, "exclusive");
    if (diskFull !== undefined && outcome !== "locked") throw diskFull;
    return fd;
  } catch (error) {
    await close(fd);
    await unlinkIfPresent(ownPath);
    throw error;
  }
}

/** The error when there is no room; the file is then empty or cut. */
async function writeHolder(ownPath: string, fd: number, own: Holder): Promise<Error | undefined> {
  try {
    await writeFile(ownPath, JSON.stringify(own));
    await promisify(fs.fdatasync)(fd);
    return undefined;
  } catch (error) {
    if (error instanceof Error && hasErrno(error, "ENOSPC", "EDQUOT", "EFBIG")) return error;
    throw error;
  }
}

async function acquire(path: string, ownPath: string): Promise<void> {
  for (let round = 0; round < ROUNDS_MAX; round++) {
    if (await linkIfFree(ownPath, path)) return;
    const holder = await readHolder(path);
    if (holder === undefined) continue;
    if (isRunning(holder) || (await isKernelLocked(path))) throw inUse(path, holder);
    await removeDead({ path, ownPath, dead: holder });
  }
  throw inUse(path, (await readHolder(path)) ?? UNREADABLE);
}

/** True when somebody, in whichever container, has the file open and locked. */
async function isKernelLocked(path: string): Promise<boolean> {
  try {
    const fd = await open(path, "r");
    const outcome = await tryFileLock(fd, "shared");
    await close(fd);
    return outcome === "refused";
  } catch (error) {
    if (hasErrno(error, "ENOENT")) return false;
    throw error;
  }
}

/** Removes the lock of a dead holder, unless a live process is already about it. */
async function removeDead(attempt: { path: string; ownPath: string; dead: Holder }): Promise<void> {
  const { path, ownPath, dead } = attempt;
  for (let k = 0; k < ROUNDS_MAX; k++) {
    const takePath = `${path}.take.${dead.token}.${k}`;
    if (await linkIfFree(ownPath, takePath)) {
      const current = await readHolder(path);
      if (current?.token === dead.token && !(await isKernelLocked(path))) await unlinkIfPresent(path);
      return unlinkIfPresent(takePath);
    }
    const taker = await readHolder(takePath);
    if (taker === undefined) return;
    if (isRunning(taker)) return delay(TAKER_DELAY_MS);
  }
}

async function removeOwn(path: string, own: Holder): Promise<void> {
  if ((await readHolder(path))?.token === own.token) await unlinkIfPresent(path);
}

/**
 * Removes what killed processes left beside the lock. Only the lock's holder does this: while it holds, every
 * take file is about a token that the lock no longer names, so it gives no right any more.
 */
async function sweepLeftovers(path: string): Promise<void> {
  const directory = dirname(path);
  for (const name of await readdir(directory)) {
    const leftPath = join(directory, name);
    if (name.startsWith(`${basename(path)}.take.`)) await unlinkIfPresent(leftPath);
    if (!name.startsWith(`${basename(path)}.own.`)) continue;
    const owner = await readHolder(leftPath);
    if (owner !== undefined && owner !== UNREADABLE && !isAlive(owner)) await unlinkIfPresent(leftPath);
  }
}

function isRunning(holder: Holder): boolean {
  return holder !== UNREADABLE && isAlive(holder);
}

function inUse(path: string, holder: Holder): CodedError {
  const advice = "Stop that process, or give this one a data directory of its own.";
  const text = `The data directory ${dirname(path)} is in use by process ${holder.pid} (lock file ${path}). ${advice}`;
  return new CodedError(ErrorCode.DataDirectoryInUse, text, { details: { pid: holder.pid, path } });
}

async function readHolder(path: string): Promise<Holder | undefined> {
  try {
    const holder = JSON.parse(await readFile(path, "utf8")) as Holder | null;
    return Number.isSafeInteger(holder?.pid) && typeof holder?.token === "string" ? holder : UNREADABLE;
  } catch (error) {
    if (hasErrno(error, "ENOENT")) return undefined;
    if (error instanceof SyntaxError) return UNREADABLE;
    throw error;
  }
}

async function linkIfFree(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (hasErrno(error, "EEXIST")) return false;
    throw error;
  }
}

async function unlinkIfPresent(path: string): Promise<void> {
  try {
    await unlink(path);
  } catch (error) {
    if (!hasErrno(error, "ENOENT")) throw error;
  }
}
