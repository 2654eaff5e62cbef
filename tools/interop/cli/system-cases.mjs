import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { properties, tableRows } from "./iggy-command.mjs";

/** Commands about the server, the client itself and its login. Each case: `(iggy) => Promise`. */
export const systemCases = {
  "ping works without credentials and counts": async (iggy) => {
    const { code, stdout } = await iggy.run(["ping", "--count", "3"], { credentials: [] });
    assert.equal(code, 0, stdout);
    assert.equal(stdout.match(/Ping sequence id/g)?.length, 3, stdout);
  },

  "a wrong password, an unknown user and no credentials are refused": async (iggy) => {
    const wrong = { credentials: ["-u", "iggy", "-p", "not-the-password"] };
    await iggy.refuse("Invalid credentials", ["me"], wrong);
    const nobody = { credentials: ["-u", "nobody", "-p", "iggy"] };
    await iggy.refuse("Invalid credentials", ["stream", "list"], nobody);
    await iggy.refuse("Missing iggy server credentials", ["me"], { credentials: [] });
  },

  "me shows the root user on TCP, and client get finds only clients that are there": async (iggy) => {
    const me = properties(await iggy.do("me"));
    assert.equal(me["User ID"], "0");
    assert.equal(me.Transport.toUpperCase(), "TCP");
    assert.match(me.Address, /^127\.0\.0\.1:\d+$/);
    assert.match(await iggy.do("client", "get", "4294967295"), /was not found/);
  },

  "client list shows the asking client in both list modes": async (iggy) => {
    const [, first] = tableRows(await iggy.do("client", "list"));
    assert.equal(first[1], "0");
    assert.match(await iggy.do("client", "list", "--list-mode", "list"), /\|0\|127\.0\.0\.1:\d+\|TCP\|/i);
  },

  "stats come as table, list, json and toml": async (iggy) => {
    const json = await iggy.do("stats", "--output", "json");
    const stats = JSON.parse(json.slice(json.indexOf("{")));
    assert.equal(stats.iggy_server_version, "0.9.0");
    assert.equal(stats.iggy_server_semver, 9000);
    assert.ok(stats.process_id > 0 && stats.threads_count > 0, json);
    assert.match(await iggy.do("stats", "--output", "toml"), /iggy_server_version = "0\.9\.0"/);
    assert.match(await iggy.do("stats", "--output", "list"), /^Streams Count\|0$/m);
    assert.equal(properties(await iggy.do("stats"))["Streams Count"], "0");
  },

  "cluster metadata names one healthy leader": async (iggy) => {
    const [, node] = tableRows(await iggy.do("cluster", "metadata"));
    assert.deepEqual(
      node.slice(-2).map((word) => word.toLowerCase()),
      ["leader", "healthy"],
    );
  },

  "options topic lists the catalogue; those of stream and user are empty": async (iggy) => {
    const keys = tableRows(await iggy.do("options", "topic"))
      .slice(1)
      .map(([key]) => key);
    const expected = "compression_algorithm message_expiry max_topic_size segment_size durability";
    for (const key of [...expected.split(" "), "consumer_offset_durability", "preallocate_segments"])
      assert.ok(keys.includes(key), `${key} is not among ${keys}`);
    assert.equal(keys.filter((key) => key !== "").length, 9);
    for (const scope of ["stream", "user"])
      assert.equal(tableRows(await iggy.do("options", scope)).length <= 1, true);
  },

  "snapshot writes a ZIP file, of every part or of those that are named, and needs a login": async (
    iggy,
    { home },
  ) => {
    for (const [folder, parts] of [
      ["every-part", []],
      ["some-parts", ["--snapshot-types", "resource_usage", "server_config"]],
    ]) {
      const path = join(home, folder);
      mkdirSync(path);
      await iggy.do("snapshot", "--compression", "deflated", "--out-dir", path, ...parts);
      const [name, ...others] = readdirSync(path);
      assert.match(name, /\.zip$/);
      assert.deepEqual(others, []);
      const zip = readFileSync(join(path, name)).toString("latin1");
      assert.ok(zip.startsWith("PK\x03\x04"), folder);
      assert.match(zip, /resource_usage|resources/);
    }
    await iggy.refuse("credentials", ["snapshot"], { credentials: [] });
  },

  "message flush is refused": async (iggy) => {
    await iggy.refuse("feature", ["message", "flush", "0", "0", "0"]);
  },
};
