import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { freePorts } from "./free-ports.ts";
import { type NodePlace, type NodeProcess, ThreeNodes } from "./three-nodes.ts";

/** Notes what is done with it. */
class NotedNode implements NodeProcess {
  readonly calls: string[] = [];
  readonly place: NodePlace;

  constructor(place: NodePlace) {
    this.place = place;
  }

  async start(): Promise<void> {
    this.calls.push("start");
  }

  async kill(): Promise<void> {
    this.calls.push("kill");
  }
}

const prepare = () =>
  ThreeNodes.prepare({ name: "c", listeners: ["http"], makeNode: (place) => new NotedNode(place) });

test("ports that were free differ, and no connection is given one of them", async () => {
  const ports = await freePorts(90);
  assert.equal(new Set(ports).size, 90);
  assert.ok(
    ports.every((port) => port >= 20_000 && port < 32_000),
    `${ports}`,
  );
});

test("each node knows the same roster, its own id and ports of its own", async () => {
  const three = await prepare();
  const places = [0, 1, 2].map((at) => three.node(at).place);
  const [, config = "", , id] = places[2]?.args ?? [];
  assert.equal(id, "2");
  const text = readFileSync(config, "utf8");
  for (const { ports, replica } of places) {
    const listed = `{ tcp = ${ports.tcp}, http = ${ports.http}, tcp_replica = ${ports.tcp_replica} }`;
    assert.ok(text.includes(`replica_id = ${replica}\nports = ${listed}\n`), text);
  }
  assert.equal(new Set(places.flatMap(({ ports }) => Object.values(ports))).size, 9);
  three.removeFolder();
});

test("a node that was killed does not run until it is started again", async () => {
  const three = await prepare();
  await three.startAll();
  await three.kill(1);
  assert.deepEqual(three.running, [0, 2]);
  await three.start(1);
  assert.deepEqual(await three.endEach(async (node) => node.place.replica), [0, 2, 1]);
  assert.deepEqual(three.running, []);
  assert.deepEqual(three.node(1).calls, ["start", "kill", "start"]);
  assert.throws(() => three.node(3), /there is no node 3/);
  three.removeFolder();
});

test("what the nodes wrote goes with the folder of the cluster", async () => {
  const three = await prepare();
  mkdirSync(three.dataOf(0));
  three.removeFolder();
  assert.equal(existsSync(three.dataOf(0)), false);
});
