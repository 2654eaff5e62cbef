import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { isCodedError } from "@millrace/errors";
import { loadConfig } from "./load-config.ts";
import { REMOVED_KEYS, refuseRemovedKeys } from "./removed-keys.ts";
import { configSchema } from "./schema.ts";
import { schemaLeaves } from "./schema-leaves.ts";
import { OURS, SECTION_15 } from "./section-15.table.ts";
import { defaultText, disposition, settingsTables } from "./settings-page.ts";

const SOURCES = new URL("../", import.meta.url);
const PAGE = new URL("../../../../docs/configuration.md", import.meta.url);

/** Defaults that differ from the reference's, each for a reason that an ADR or the README gives. */
const OTHER_DEFAULTS: readonly string[] = [
  "quic.enabled",
  "websocket.read_buffer_size",
  "websocket.write_buffer_size",
  "websocket.max_write_buffer_size",
  "websocket.max_message_size",
  "websocket.max_frame_size",
  "memory_pool.size",
  "sharding.cpu_allocation",
  "partition.prepare_queue_depth",
  "cluster.heartbeat_timeout",
];

test("The table of section 15 has a row for each setting the server knows, in its order, and no other.", () => {
  const known = schemaLeaves(configSchema).map((path) => path.join("."));
  assert.deepEqual(
    SECTION_15.map(([key]) => key),
    known,
  );
});

test("Each setting is used in the file its row names, or has no effect for a reason that is told.", () => {
  for (const [key, , file] of SECTION_15) {
    const isIdle = disposition(key).startsWith("no effect: ");
    assert.equal(
      file === undefined,
      isIdle,
      `${key}: a file in its row, or a reason in without-effect.table.ts`,
    );
    if (file === undefined) continue;
    const url = new URL(file, SOURCES);
    assert.ok(existsSync(url), `${key}: ${file} is not there`);
    const leaf = key.split(".").at(-1) ?? "";
    assert.match(readFileSync(url, "utf8"), new RegExp(`\\b${leaf}\\b`), `${file} does not use ${key}`);
  }
});

test("Defaults are the reference's, but for those that are told.", () => {
  const others = SECTION_15.filter(
    ([key, reference]) => reference !== OURS && reference !== defaultText(key),
  );
  assert.deepEqual(
    others.map(([key]) => key),
    OTHER_DEFAULTS,
  );
});

test("Each switch of what is not built refuses the start by its name, and each removed key by what replaces it.", async () => {
  const refused = SECTION_15.filter(([key]) => disposition(key) === "`true` refuses the start");
  assert.ok(refused.length > 0);
  for (const [key] of refused) {
    const environment = { [`MILLRACE_${key.replaceAll(".", "_").toUpperCase()}`]: "true" };
    await assert.rejects(
      loadConfig({ environment }),
      (error) => isCodedError(error) && error.message.includes(key),
    );
  }
  for (const { path, instead } of REMOVED_KEYS) {
    const file = path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), {});
    const isNamed = (error: unknown) =>
      isCodedError(error) && error.message.includes(path.join(".")) && error.message.includes(instead);
    assert.throws(() => refuseRemovedKeys(file, {}), isNamed, path.join("."));
  }
});

test("docs/configuration.md has these tables.", () => {
  const hint = "docs/configuration.md is behind: run `npm run settings-page` in apps/server";
  assert.ok(readFileSync(PAGE, "utf8").includes(`\n${settingsTables()}`), hint);
});
