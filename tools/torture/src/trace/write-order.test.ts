import assert from "node:assert/strict";
import { test } from "node:test";
import { Violation } from "../oracle/violation.ts";
import { checkWriteOrder } from "./write-order.ts";

const PLAIN = { folder: "topics/0/", isSynced: false };
const SYNCED = { folder: "topics/1/", isSynced: true };
const file = (topic: number, ending: string) =>
  `20</d/streams/0/topics/${topic}/partitions/0-2/00000000000000000000.${ending}>`;

const LOG = `11 pwritev(${file(0, "log")}, [{iov_base=""..., iov_len=560}], 1, 0) = 560`;
const OPS = `12 pwritev(${file(0, "ops")}, [{iov_base=""..., iov_len=128}], 1, 300) = 128`;
const REPLY = '10 write(22<TCP:[127.0.0.1:8090->127.0.0.1:4]>, ""..., 280) = 280';
const PONG = '10 write(22<TCP:[127.0.0.1:8090->127.0.0.1:4]>, ""..., 256) = 256';
const synced = (name: string, ending: string, more = "") => `13 ${name}(${file(1, ending)}${more}) = 0`;

const count = (lines: readonly string[], topic: typeof PLAIN) =>
  checkWriteOrder(lines, [PLAIN, SYNCED]).get([PLAIN, SYNCED].find((one) => one === topic) ?? PLAIN);

test("A-01: a confirmation behind both writes is counted, other replies are not", () => {
  assert.equal(count([LOG, PONG, OPS, REPLY, PONG, OPS, LOG, REPLY], PLAIN), 2);
});

test("a call counts when it returns, however many others come between", () => {
  const began = `11 pwritev(${file(0, "log")}, [{iov_base=""..., iov_len=560}], 1, 0 <unfinished ...>`;
  const ended = "11 <... pwritev resumed>) = 560";
  assert.equal(count([began, OPS, ended, REPLY], PLAIN), 1);
  assert.throws(() => count([began, OPS, REPLY, ended], PLAIN), Violation);
});

test("a confirmation before a write, or before any, is a violation", () => {
  assert.throws(() => count([LOG, REPLY, OPS], PLAIN), /write ops/);
  assert.throws(() => count([OPS, REPLY], PLAIN), /write log/);
  assert.throws(() => count([LOG, OPS, REPLY, REPLY], PLAIN), Violation);
  assert.throws(() => count([LOG.replace("= 560", "= -1 ENOSPC"), OPS, REPLY], PLAIN), /write log/);
});

test("a synced topic needs a datasync of each file, behind its write", () => {
  const writes = [synced("pwrite64", "log", ', ""..., 560, 0'), synced("pwrite64", "ops", ', ""..., 128, 0')];
  const syncs = [synced("fdatasync", "log"), synced("fdatasync", "ops")];
  assert.equal(count([...writes, ...syncs, REPLY], SYNCED), 1);
  assert.throws(() => count([...writes, REPLY], SYNCED), /sync log, sync ops/);
  assert.throws(() => count([...syncs, ...writes, REPLY], SYNCED), /sync log/);
  assert.throws(() => count([...writes, syncs[0] ?? "", REPLY], SYNCED), /sync ops/);
});
