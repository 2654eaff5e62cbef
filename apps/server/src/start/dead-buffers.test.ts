import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { countDeadBuffersAtOnce, SWEEPING_FLAG } from "./dead-buffers.ts";

function flagsFor(available: number, used: number): string[] {
  const flags: string[] = [];
  countDeadBuffersAtOnce({ available, used }, (flag) => flags.push(flag));
  return flags;
}

test("Dead buffers are counted at once where no core is left for it, and nowhere else.", () => {
  const flag = `--no-${SWEEPING_FLAG}`;
  assert.deepEqual([flagsFor(1, 1), flagsFor(2, 2), flagsFor(1, 4)], [[flag], [flag], [flag]]);
  assert.deepEqual([flagsFor(2, 1), flagsFor(64, 4)], [[], []]);
});

test("The engine of this Node knows the flag, and counts beside the work by default.", () => {
  const options = execFileSync(process.execPath, ["--v8-options"], { encoding: "utf8" });
  assert.match(options, new RegExp(`--${SWEEPING_FLAG} [^]{0,200}default: --${SWEEPING_FLAG}`));
});
