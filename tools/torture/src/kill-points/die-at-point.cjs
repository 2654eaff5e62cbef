"use strict";
// Loaded into a server by `node --require`, in each of its threads: wraps the file calls of `node:fs` and kills the
// process at the one that the file `kill-at` in its working folder names (see kill-point.ts). The product has no part
// in this: it calls the same functions as ever.
const fs = require("node:fs");
const { basename, dirname, join } = require("node:path");

const ORDER = join(process.cwd(), "kill-at");
const { readFileSync, writeSync, unlinkSync, readdirSync } = fs;
const pathOfFile = new Map();
let order;
let callsLeft = 0;

/** Reads the order once there is one. Asking at each call makes a running server listen, in all its threads. */
function readOrder() {
  if (order !== undefined) return order;
  try {
    order = JSON.parse(readFileSync(ORDER, "utf8"));
  } catch {
    return undefined;
  }
  callsLeft = order.count;
  return order;
}

/** What a path is to the server; the names of kill-point.ts. */
function classOf(path) {
  const name = basename(path).replace(/\.new$/, "");
  if (path.includes("/quarantine/")) return "quarantine";
  if (basename(dirname(path)) === "partitions") return "partition";
  if (path.includes("/partitions/")) return name.slice(name.lastIndexOf(".") + 1);
  if (basename(dirname(path)) === "metadata")
    return /^(journal|snapshot|superblock)/.exec(name)?.[0] ?? "other";
  return name === "metadata" ? "metadata" : "other";
}

/** The order, when this very call is the one it names. */
function chosen(call, path) {
  const now = readOrder();
  if (now?.call !== call || path === undefined || classOf(path) !== now.file) return undefined;
  callsLeft -= 1;
  return callsLeft === 0 ? now : undefined;
}

/** As `kill -9` from outside: no handler runs, no buffer is flushed. */
function die() {
  process.kill(process.pid, "SIGKILL");
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

/** Wraps a call that ends with a callback. */
function wrap(name, call, pathOf, partly = () => {}) {
  const original = fs[name];
  fs[name] = (...args) => {
    const now = chosen(call, pathOf(...args));
    if (now === undefined) return original(...args);
    if (now.when === "within") partly(now.share, ...args);
    if (now.when !== "after") die();
    original(...args.slice(0, -1), die);
  };
}

/** Wraps a call that answers a promise. */
function wrapPromise(name, call, partly = () => {}) {
  const original = fs.promises[name];
  fs.promises[name] = async (path, ...rest) => {
    const now = chosen(call, path);
    if (now === undefined) return original(path, ...rest);
    if (now.when === "within") partly(now.share, path);
    if (now.when === "after") await original(path, ...rest);
    die();
  };
}

/** The beginning of a write reaches the file, the rest does not. */
function writePartly(share, fd, parts, position) {
  const whole = Buffer.concat(parts);
  writeSync(fd, whole, 0, Math.floor(whole.length * share), position);
}

/** Some of a folder's files are gone, the others and the folder are there. */
function removePartly(share, path) {
  const names = readdirSync(path);
  for (const name of names.slice(0, Math.ceil(names.length * share))) unlinkSync(join(path, name));
}

const pathOfDescriptor = (fd) => pathOfFile.get(fd);

const open = fs.open;
fs.open = (path, flags, mode, done) => {
  const isNew = (flags & fs.constants.O_CREAT) !== 0;
  const now = isNew ? chosen("create", path) : undefined;
  if (now?.when === "before") die();
  open(path, flags, mode, (error, fd) => {
    if (now !== undefined) die();
    if (error === null) pathOfFile.set(fd, path);
    done(error, fd);
  });
};
wrap("writev", "write", pathOfDescriptor, writePartly);
wrap("fdatasync", "datasync", pathOfDescriptor);
wrap("fsync", "sync", pathOfDescriptor);
wrap("ftruncate", "truncate", pathOfDescriptor);
wrapPromise("rename", "rename");
wrapPromise("unlink", "remove");
wrapPromise("rm", "remove", removePartly);
