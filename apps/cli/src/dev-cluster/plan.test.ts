import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { parse } from "smol-toml";
import { UsageError } from "../failures/usage-error.ts";
import { openFolder, writeConfigs } from "./folder.ts";
import { freePorts } from "./free-ports.ts";
import { configText, planNodes, wantedPorts } from "./plan.ts";

const PORTS = [1, 2, 3, 4, 5, 6, 7, 8];

test("every node has addresses and data of its own, and all have the same roster", () => {
  const nodes = planNodes('/data/with "quotes"', PORTS);
  const texts = nodes.map((node) => JSON.parse(JSON.stringify(parse(configText(node, nodes)))));
  assert.deepEqual(
    texts.map(({ path, tcp }) => [path, tcp]),
    [
      ['/data/with "quotes"/n0', { address: "127.0.0.1:1" }],
      ['/data/with "quotes"/n1', { address: "127.0.0.1:5" }],
    ],
  );
  const [first, second] = texts.map(({ cluster }) => cluster as { nodes: unknown[] });
  assert.deepEqual(first, second);
  assert.deepEqual(first?.nodes[1], {
    ...{ name: "n1", ip: "127.0.0.1", replica_id: 1 },
    ports: { tcp: 5, http: 6, websocket: 7, tcp_replica: 8 },
  });
});

test("ports that are found are all different", async () => {
  const ports = await freePorts(wantedPorts(0, 7), "127.0.0.1");
  assert.equal(new Set(ports).size, 28);
});

test("nodes have the ports of a server, and the next ones, but for those that others have", async () => {
  assert.deepEqual(wantedPorts(8090, 2), [8090, 3000, 8092, 8190, 8100, 3010, 8102, 8200]);
  const [taken = 0, free = 0] = await freePorts([0, 0], "127.0.0.1");
  const other = createServer().listen(taken, "127.0.0.1");
  await once(other, "listening");
  try {
    const ports = await freePorts([taken, free], "127.0.0.1");
    assert.notEqual(ports[0], taken);
    assert.equal(ports[1], free);
  } finally {
    other.close();
  }
});

test("a folder that was named stays and takes no other number of nodes; one of a run goes with it", () => {
  const named = mkdtempSync(join(tmpdir(), "millrace-named-"));
  try {
    const folder = openFolder(named, false, 2);
    writeConfigs(planNodes(folder.path, PORTS));
    folder.release();
    assert.ok(existsSync(join(named, "n1.toml")));
    assert.equal(openFolder(named, false, 2).path, named);
    assert.throws(() => openFolder(named, false, 3), UsageError);
    const own = openFolder(undefined, false, 2);
    own.release();
    assert.ok(!existsSync(own.path));
    const kept = openFolder(undefined, true, 2);
    kept.release();
    assert.ok(existsSync(kept.path));
    rmSync(kept.path, { recursive: true });
  } finally {
    rmSync(named, { recursive: true });
  }
});
