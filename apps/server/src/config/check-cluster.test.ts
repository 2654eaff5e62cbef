import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { ErrorCode, isCodedError } from "@millrace/errors";
import { REPLICAS_MAX } from "@millrace/vsr";
import { stringify } from "smol-toml";
import { effectiveConfig } from "./effective-config.ts";
import { loadConfig } from "./load-config.ts";

type Table = Record<string, unknown>;

const SECRET = "s".repeat(32);

function node(id: number, changes: Table = {}, ports: Table = {}): Table {
  const own = { tcp: 8090 + id, http: 3000 + id, websocket: 8190 + id, tcp_replica: 8290 + id, ...ports };
  return { name: `node-${id}`, ip: "10.0.0.1", replica_id: id, ports: own, ...changes };
}

const three = (changes: Table = {}) => ({
  cluster: { enabled: true, nodes: [node(0), node(1), node(2)], ...changes },
});
const one = (changes: Table = {}) => ({ cluster: { enabled: true, nodes: [node(0)], ...changes } });
/** Three nodes, of which this one is node 1. */
const NODES: Table = three();

async function load(tree: Table, replica?: number, environment: Record<string, string> = {}) {
  const folder = await mkdtemp(join(tmpdir(), "millrace-cluster-"));
  try {
    const configPath = join(folder, "config.toml");
    await writeFile(configPath, stringify(tree));
    return await loadConfig({ environment, configPath, replica });
  } finally {
    await rm(folder, { recursive: true });
  }
}

const invalid = (pattern: RegExp) => (error: unknown) =>
  isCodedError(error, ErrorCode.InvalidConfiguration) && pattern.test(error.message)
    ? true
    : assert.fail(String(error));

describe("the table [cluster]", () => {
  test("of one node starts as that node, by itself or when told so", async () => {
    for (const replica of [undefined, 0]) {
      const { config, replica: own } = await load(one({ name: "orders" }), replica);
      assert.deepEqual([own, config.cluster.name, config.cluster.nodes.length], [0, "orders", 1]);
    }
  });

  test("has the documented timings", async () => {
    const { cluster } = (await load({})).config;
    const { heartbeat_timeout: heartbeat, commit_broadcast_interval: broadcast } = cluster;
    assert.deepEqual([heartbeat, broadcast, cluster.prepare_retransmit_interval], [2000, 500, 250]);
    assert.deepEqual([cluster.view_change_status_timeout, cluster.view_probe_attempts_max], [5000, 5]);
    assert.deepEqual([cluster.superblock_wedged_fatal_timeout, cluster.repair_chunk_max], [120_000, 128]);
  });

  test("refuses a listener for clients where the other nodes connect to", async () => {
    const at = (key: string, address: string) => ({ ...NODES, [key]: { address } });
    for (const host of ["10.0.0.1", "0.0.0.0", "[::]"]) {
      const refused = invalid(/setting tcp\.address is .*cluster\.nodes\.1\.ports\.tcp_replica is 8291/u);
      await assert.rejects(load(at("tcp", `${host}:8291`), 1), refused);
    }
    await assert.rejects(load(at("http", "10.0.0.1:8291"), 1), invalid(/setting http\.address/u));
    await load(at("tcp", "10.0.0.2:8291"), 1);
    await load(at("tcp", "10.0.0.1:8290"), 1);
    const local = { cluster: { enabled: true, nodes: [0, 1].map((id) => node(id, { ip: "127.0.0.1" })) } };
    await assert.rejects(
      load({ ...local, tcp: { address: "localhost:8290" } }, 0),
      invalid(/localhost:8290/u),
    );
  });

  test("of several nodes starts as the one that --replica-id names", async () => {
    const { config, replica } = await load(NODES, 1);
    assert.deepEqual([replica, config.cluster.nodes.length], [1, 3]);
  });

  test("needs to hold this node", async () => {
    const cases: readonly (readonly [number | undefined, RegExp])[] = [
      [
        undefined,
        /cluster\.nodes does not say which of its nodes this is; start with --replica-id and one of 0, 1, 2/,
      ],
      [3, /cluster\.nodes has no node 3; start with --replica-id and one of 0, 1, 2/],
    ];
    for (const [replica, pattern] of cases) await assert.rejects(load(NODES, replica), invalid(pattern));
    await assert.rejects(load(one(), 1), invalid(/has no node 1/));
    await assert.rejects(load({}, 2), invalid(/cluster\.enabled is false, and --replica-id 2 is for a node/));
    assert.equal((await load({}, 0)).replica, 0);
  });

  test("is refused with a roster that cannot be, whichever node reads it", async () => {
    const cases: readonly (readonly [Table[], RegExp])[] = [
      [[], /cluster\.nodes is empty/],
      [Array.from({ length: REPLICAS_MAX + 1 }, (_, id) => node(id)), /nodes; a cluster has at most/],
      [[node(0), node(1, { replica_id: 0 })], /nodes\.1\.replica_id is 0, as that of cluster\.nodes\.0 is/],
      [[node(0), node(2)], /nodes\.1\.replica_id is 2; 2 nodes have the ids 0 to 1/],
      [[node(0), node(1, { name: "node-0" })], /nodes\.1\.name is "node-0", as that of cluster\.nodes\.0/],
      [[node(0, { name: " " })], /nodes\.0\.name is blank/],
      [[node(0, { name: "n".repeat(256) })], /nodes\.0\.name has more than 255 bytes/],
      [[node(0, { ip: "localhost" })], /nodes\.0\.ip is "localhost"; it is an IP address/],
      [[node(0, { ip: "0.0.0.0" })], /nodes\.0\.ip stands for every interface/],
      [[node(0, { advertised_address: "::" })], /nodes\.0\.advertised_address stands for every/],
      [[node(0, {}, { tcp: 0 })], /nodes\.0\.ports\.tcp is not usable: is no port to connect to/],
      [[node(0, {}, { tcp: 70_000 })], /nodes\.0\.ports\.tcp is not usable/],
      [
        [node(0), node(1, {}, { http: 3000 })],
        /nodes\.1\.ports\.http is 3000; cluster\.nodes\.0\.ports\.http has/,
      ],
      [[node(0, {}, { tcp_replica: 8090 })], /ports\.tcp_replica is 8090; cluster\.nodes\.0\.ports\.tcp has/],
    ];
    for (const [nodes, pattern] of cases) {
      await assert.rejects(load({ cluster: { enabled: true, nodes } }, 0), invalid(pattern));
    }
    const other = [node(0), node(1, { ip: "10.0.0.2" }, { tcp: 8090, tcp_replica: 8290 })];
    await load({ cluster: { enabled: true, nodes: other } }, 0);
  });

  test("needs a port for each transport that is on, and for the other nodes", async () => {
    for (const name of ["tcp", "http", "websocket"]) {
      const nodes = [node(0, {}, { [name]: undefined })];
      const wrong = load({ cluster: { enabled: true, nodes } });
      await assert.rejects(
        wrong,
        invalid(new RegExp(`nodes\\.0\\.ports\\.${name} is missing although ${name}`)),
      );
    }
    const without = { cluster: { enabled: true, nodes: [node(0, {}, { tcp_replica: undefined })] } };
    await assert.rejects(
      load(without),
      invalid(/ports\.tcp_replica is missing; it is where the other nodes/),
    );
    const off = {
      cluster: { enabled: true, nodes: [node(0, {}, { http: undefined })] },
      http: { enabled: false },
    };
    await load(off);
  });

  test("takes addresses for clients of some networks, and refuses what is none", async () => {
    const selected = (client_cidr: string, address = "203.0.113.5") =>
      one({ nodes: [node(0, { advertised_addresses: [{ client_cidr, address }] })] });
    for (const cidr of ["10.0.0.0/8", "0.0.0.0/0", "2001:db8::/32"]) await load(selected(cidr));
    for (const cidr of ["10.0.0.0", "10.0.0.0/33", "hosts/8", "2001:db8::/129"]) {
      await assert.rejects(
        load(selected(cidr)),
        invalid(/advertised_addresses\.0\.client_cidr is ".*", no network/),
      );
    }
    await assert.rejects(load(selected("10.0.0.0/8", "0.0.0.0")), invalid(/0\.address stands for every/));
    await assert.rejects(load(selected("10.0.0.0/8", "")), invalid(/0\.address is blank/));
    const many = Array.from({ length: 17 }, () => ({ client_cidr: "10.0.0.0/8", address: "a" }));
    const tooMany = one({ nodes: [node(0, { advertised_addresses: many })] });
    await assert.rejects(load(tooMany), invalid(/advertised_addresses has more than 16 entries/));
  });

  test("is refused with secrets that are too short, missing or not exchanged", async () => {
    const cases: readonly (readonly [Table, RegExp])[] = [
      [{}, /auth\.shared_secret is missing/],
      [{ shared_secret: "s".repeat(31) }, /auth\.shared_secret has 31 bytes; it needs at least 32/],
      [{ shared_secret: SECRET, previous_shared_secret: "short" }, /previous_shared_secret has 5 bytes/],
      [{ shared_secret: SECRET, previous_shared_secret: SECRET }, /previous_shared_secret is the same/],
    ];
    for (const [auth, pattern] of cases) {
      const wrong = load(one({ auth: { enabled: true, ...auth } }));
      await assert.rejects(wrong, (error) => {
        assert.ok(!(error as Error).message.includes("sss"), "the secret is not told");
        return invalid(pattern)(error);
      });
    }
    await load(one({ auth: { enabled: true, shared_secret: SECRET, previous_shared_secret: `${SECRET}2` } }));
    await load(one({ auth: { enabled: true, shared_secret: "ü".repeat(16) } }));
  });

  test("is refused with TLS that nobody could trust", async () => {
    const auth = { enabled: true, shared_secret: SECRET };
    const files = { cert_file: "c", key_file: "k", ca_file: "a" };
    await assert.rejects(load(one({ tls: { enabled: true } })), invalid(/tls\.enabled needs cluster\.auth/));
    for (const missing of ["cert_file", "key_file", "ca_file"]) {
      const tls = { enabled: true, ...files, [missing]: "" };
      await assert.rejects(
        load(one({ auth, tls })),
        invalid(new RegExp(`cluster\\.tls\\.${missing} is missing`)),
      );
    }
    await load(one({ auth, tls: { enabled: true, ...files } }));
    await load(one({ auth, tls: { enabled: true, self_signed: true } }));
  });

  test("is refused with timings that do not fit each other, also while it is off", async () => {
    const cases: readonly (readonly [Table, RegExp])[] = [
      [{ heartbeat_timeout: "1999 ms" }, /heartbeat_timeout is not usable: "1999 ms" is too short/],
      [{ commit_broadcast_interval: "501 ms" }, /heartbeat_timeout is below 4 times/],
      [{ commit_broadcast_interval: "0" }, /commit_broadcast_interval is not usable/],
      [{ prepare_retransmit_interval: "0" }, /prepare_retransmit_interval is not usable/],
      [{ view_change_retransmit_interval: "1251 ms" }, /view_change_status_timeout is below 4 times/],
      [{ request_start_view_retransmit_interval: "0" }, /request_start_view_retransmit_interval is not/],
      [{ view_probe_attempts_max: 0 }, /view_probe_attempts_max is not usable/],
      [{ view_probe_attempts_max: 101 }, /view_probe_attempts_max is not usable/],
      [{ repair_retry_interval: "0" }, /repair_retry_interval is not usable/],
      [{ repair_gap_debounce_interval: "0" }, /repair_gap_debounce_interval is not usable/],
      [{ repair_chunk_max: 1025 }, /repair_chunk_max is not usable/],
      [{ superblock_wedged_fatal_timeout: "29 s" }, /superblock_wedged_fatal_timeout is neither 0/],
    ];
    for (const [cluster, pattern] of cases) await assert.rejects(load({ cluster }), invalid(pattern));
    const narrow = { cluster: { repair_chunk_max: 128 }, message_bus: { peer_queue_capacity: 128 } };
    await assert.rejects(
      load(narrow),
      invalid(/repair_chunk_max is not below message_bus\.peer_queue_capacity/),
    );
    await load({ cluster: { superblock_wedged_fatal_timeout: "0" } });
    await assert.rejects(load(one({ name: "  " })), invalid(/cluster\.name is blank/));
  });

  test("is refused with keys that nobody knows, in its nodes too", async () => {
    const misspelt = one({ nodes: [node(0, { adress: "x" }, { replica: 1 })] });
    await assert.rejects(
      load(misspelt),
      invalid(/unknown: cluster\.nodes\.0\.adress, cluster\.nodes\.0\.ports\.replica\. Correct/),
    );
    await assert.rejects(
      load({}, 0, { MILLRACE_CLUSTER_NODES_0_PORT_TCP: "1" }),
      invalid(/NODES_0_PORT_TCP/),
    );
  });

  test("comes from the environment, node by node, in place of the file's", async () => {
    const variables: Record<string, string> = {
      IGGY_CLUSTER_ENABLED: "true",
      IGGY_CLUSTER_NAME: "payments",
      IGGY_CLUSTER_NODES_0_NAME: "only",
      IGGY_CLUSTER_NODES_0_IP: "10.0.0.7",
      IGGY_CLUSTER_NODES_0_REPLICA_ID: "0",
      IGGY_CLUSTER_NODES_0_PORTS_TCP: "8090",
      IGGY_CLUSTER_NODES_0_PORTS_HTTP: "3000",
      IGGY_CLUSTER_NODES_0_PORTS_WEBSOCKET: "8092",
      MILLRACE_CLUSTER_NODES_0_PORTS_TCP_REPLICA: "8190",
      IGGY_CLUSTER_NODES_0_ADVERTISED_ADDRESSES_0_CLIENT_CIDR: "10.0.0.0/8",
      IGGY_CLUSTER_NODES_0_ADVERTISED_ADDRESSES_0_ADDRESS: "10.9.9.9",
    };
    const { config } = await load(NODES, 0, variables);
    assert.equal(config.cluster.name, "payments");
    assert.deepEqual(config.cluster.nodes, [
      {
        name: "only",
        ip: "10.0.0.7",
        replica_id: 0,
        ports: { tcp: 8090, http: 3000, websocket: 8092, tcp_replica: 8190 },
        advertised_addresses: [{ client_cidr: "10.0.0.0/8", address: "10.9.9.9" }],
      },
    ]);
  });

  test("is written into the effective configuration without its secrets", async () => {
    const auth = { enabled: true, shared_secret: SECRET, previous_shared_secret: `${SECRET}2` };
    const { config } = await load(one({ auth }));
    const text = effectiveConfig(config, { dataPath: "/data", addresses: {} });
    assert.match(text, /\[\[cluster\.nodes\]\]/);
    assert.doesNotMatch(text, /sss/);
  });
});
