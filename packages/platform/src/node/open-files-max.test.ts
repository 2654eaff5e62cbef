import assert from "node:assert/strict";
import { test } from "node:test";
import { openFilesMax } from "./open-files-max.ts";

const limits = (soft: string) => () =>
  `Limit                     Soft Limit           Hard Limit           Units     \nMax processes             7                    7                    processes \nMax open files            ${soft.padEnd(21)}1048576              files     \n`;

test("Files take half of the handles of a process, each thread its part, and never too few.", () => {
  assert.equal(openFilesMax(1, limits("20000")), 10_000);
  assert.equal(openFilesMax(4, limits("20000")), 2500);
  assert.equal(openFilesMax(4, limits("64")), 32);
  assert.equal(
    openFilesMax(1, () => ""),
    4096,
    "where the system does not say",
  );
  assert.equal(openFilesMax(1, limits("unlimited")), 4096);
  assert.ok(openFilesMax(1) >= 32);
});
