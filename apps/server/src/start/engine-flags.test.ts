import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { BUDGET_FLAG, compileSooner, countDeadBuffersAtOnce, SWEEPING_FLAG } from "./engine-flags.ts";

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

test("Code is compiled sooner by the engine that knows the flag, and no other is told of it.", () => {
  const flagsOf = (engine: string) => {
    const flags: string[] = [];
    compileSooner(engine, (flag) => flags.push(flag));
    return flags;
  };
  assert.deepEqual(flagsOf("11.3.244.8-node.30"), [`--${BUDGET_FLAG}=20000`]);
  assert.deepEqual(
    [flagsOf("13.6.233.10-node.28"), flagsOf("12.4.254.21-node.33"), flagsOf("")],
    [[], [], []],
  );
  const isKnown = options().includes(`--${BUDGET_FLAG} (`);
  assert.equal(isKnown || flagsOf(process.versions.v8).length === 0, true, process.versions.v8);
});

const options = () => execFileSync(process.execPath, ["--v8-options"], { encoding: "utf8" });

test("The engine of this Node knows the flag, and counts beside the work by default.", () => {
  assert.match(options(), new RegExp(`--${SWEEPING_FLAG} [^]{0,200}default: --${SWEEPING_FLAG}`));
});
