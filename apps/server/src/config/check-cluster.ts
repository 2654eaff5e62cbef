import { isIP } from "node:net";
import { REPLICAS_MAX } from "@millrace/vsr";
import type { ClusterNode } from "./cluster-schema.ts";
import { invalid } from "./invalid-setting.ts";
import { isWildcard, parseListenAddress } from "./listen-address.ts";
import type { Config } from "./schema.ts";

/** A shorter secret could be guessed by trying. */
const SECRET_LENGTH_MIN = 32;
/** As long as any name of the protocol. */
const NAME_LENGTH_MAX = 255;
const SELECTORS_MAX = 16;
const WEDGED_TIMEOUT_MIN_MS = 30_000;
/** How many times the one has to happen before the other, so that a single loss is no failure. */
const INTERVALS_MIN = 4;

/** Settings that say where a node can be reached, and the listener that each is for. */
const CLIENT_PORTS = ["tcp", "http", "websocket", "quic"] as const;

/**
 * Checks the table `[cluster]`, and that `replica` is a node of its roster.
 *
 * @param replica  what `--replica-id` says; undefined when it was not given
 * @returns this node's replica id, 0 for a server that stands alone
 * @throws CodedError InvalidConfiguration that names key and remedy
 * @see server-semantics section 19
 */
export function checkCluster(config: Config, replica: number | undefined): number {
  const { cluster } = config;
  checkTimings(config);
  checkSecrets(cluster.auth);
  checkClusterTls(cluster);
  if (cluster.enabled) {
    checkName(cluster.name, "cluster.name");
    checkRoster(config);
    const own = ownReplica(cluster.nodes, replica);
    checkListeners(config, own);
    return own;
  }
  if (replica === undefined || replica === 0) return 0;
  throw invalid("cluster.enabled", `is false, and --replica-id ${replica} is for a node of a cluster`);
}

function checkTimings({ cluster, message_bus: bus }: Config): void {
  const { heartbeat_timeout: heartbeat, commit_broadcast_interval: broadcast } = cluster;
  if (heartbeat < INTERVALS_MIN * broadcast) {
    throw invalid("cluster.heartbeat_timeout", "is below 4 times cluster.commit_broadcast_interval");
  }
  if (cluster.view_change_status_timeout < INTERVALS_MIN * cluster.view_change_retransmit_interval) {
    throw invalid(
      "cluster.view_change_status_timeout",
      "is below 4 times cluster.view_change_retransmit_interval",
    );
  }
  if (cluster.repair_chunk_max >= bus.peer_queue_capacity) {
    throw invalid("cluster.repair_chunk_max", "is not below message_bus.peer_queue_capacity");
  }
  const wedged = cluster.superblock_wedged_fatal_timeout;
  if (wedged > 0 && wedged < WEDGED_TIMEOUT_MIN_MS) {
    throw invalid("cluster.superblock_wedged_fatal_timeout", "is neither 0, which is off, nor at least 30 s");
  }
}

/** Texts never show a secret. */
function checkSecrets(auth: Config["cluster"]["auth"]): void {
  if (!auth.enabled) return;
  const { shared_secret: current, previous_shared_secret: previous } = auth;
  if (current === "")
    throw invalid("cluster.auth.shared_secret", "is missing; openssl rand -hex 32 makes one");
  if (lengthOf(current) < SECRET_LENGTH_MIN) throw invalid("cluster.auth.shared_secret", tooShort(current));
  if (previous === "") return;
  if (lengthOf(previous) < SECRET_LENGTH_MIN) {
    throw invalid("cluster.auth.previous_shared_secret", tooShort(previous));
  }
  if (previous === current) {
    throw invalid(
      "cluster.auth.previous_shared_secret",
      "is the same as shared_secret; leave it out when none is being replaced",
    );
  }
}

function tooShort(secret: string): string {
  return `has ${lengthOf(secret)} bytes; it needs at least ${SECRET_LENGTH_MIN}`;
}

function checkClusterTls({ auth, tls }: Config["cluster"]): void {
  if (!tls.enabled) return;
  if (!auth.enabled) {
    throw invalid(
      "cluster.tls.enabled",
      "needs cluster.auth.enabled too: TLS hides what replicas say, the secret proves who they are",
    );
  }
  if (tls.self_signed) return;
  for (const key of ["cert_file", "key_file", "ca_file"] as const) {
    if (tls[key] !== "") continue;
    throw invalid(
      `cluster.tls.${key}`,
      "is missing; cluster.tls.self_signed = true makes a certificate at each start",
    );
  }
}

function checkName(name: string, key: string): void {
  if (name.trim() === "") throw invalid(key, "is blank; give it a name");
  if (lengthOf(name) > NAME_LENGTH_MAX) throw invalid(key, `has more than ${NAME_LENGTH_MAX} bytes`);
}

function checkRoster(config: Config): void {
  const { nodes } = config.cluster;
  if (nodes.length === 0) throw invalid("cluster.nodes", "is empty although cluster.enabled is true");
  if (nodes.length > REPLICAS_MAX) {
    throw invalid("cluster.nodes", `has ${nodes.length} nodes; a cluster has at most ${REPLICAS_MAX}`);
  }
  const seen = {
    names: new Map<string, number>(),
    ids: new Map<number, number>(),
    ports: new Map<string, string>(),
  };
  for (const [index, node] of nodes.entries()) {
    const key = `cluster.nodes.${index}`;
    checkName(node.name, `${key}.name`);
    checkOnce(seen.names, node.name, { index, key: `${key}.name`, text: `"${node.name}"` });
    checkOnce(seen.ids, node.replica_id, { index, key: `${key}.replica_id`, text: String(node.replica_id) });
    if (node.replica_id >= nodes.length) {
      throw invalid(
        `${key}.replica_id`,
        `is ${node.replica_id}; ${nodes.length} nodes have the ids 0 to ${nodes.length - 1}`,
      );
    }
    checkAddresses(node, key);
    checkPorts(config, { node, key, seen: seen.ports });
  }
}

function checkOnce<T>(
  seen: Map<T, number>,
  value: T,
  { index, key, text }: { readonly index: number; readonly key: string; readonly text: string },
): void {
  const first = seen.get(value);
  if (first !== undefined) throw invalid(key, `is ${text}, as that of cluster.nodes.${first} is`);
  seen.set(value, index);
}

function checkAddresses(node: ClusterNode, key: string): void {
  if (isIP(node.ip) === 0) throw invalid(`${key}.ip`, `is "${node.ip}"; it is an IP address, not a name`);
  if (isWildcard(node.ip))
    throw invalid(`${key}.ip`, "stands for every interface; name the one others reach");
  const { advertised_address: advertised, advertised_addresses: selected } = node;
  if (advertised !== undefined) checkAdvertised(advertised, `${key}.advertised_address`);
  if (selected.length > SELECTORS_MAX) {
    throw invalid(`${key}.advertised_addresses`, `has more than ${SELECTORS_MAX} entries`);
  }
  for (const [index, { client_cidr: cidr, address }] of selected.entries()) {
    const at = `${key}.advertised_addresses.${index}`;
    if (!isCidr(cidr)) throw invalid(`${at}.client_cidr`, `is "${cidr}", no network such as "10.0.0.0/8"`);
    checkAdvertised(address, `${at}.address`);
  }
}

function checkAdvertised(address: string, key: string): void {
  if (address.trim() === "") throw invalid(key, "is blank; leave it out or name an address");
  if (isWildcard(address)) throw invalid(key, "stands for every interface; name one that clients can reach");
}

function isCidr(text: string): boolean {
  const [, address = "", digits = ""] = /^([^/]+)\/(\d{1,3})$/.exec(text) ?? [];
  const family = isIP(address);
  return family !== 0 && Number(digits) <= (family === 4 ? 32 : 128);
}

/** Whoever is to be reached by a transport needs a port of his own for it. */
function checkPorts(
  config: Config,
  {
    node,
    key,
    seen,
  }: { readonly node: ClusterNode; readonly key: string; readonly seen: Map<string, string> },
): void {
  for (const name of CLIENT_PORTS) {
    if (!config[name].enabled || node.ports[name] !== undefined) continue;
    throw invalid(`${key}.ports.${name}`, `is missing although ${name}.enabled is true`);
  }
  if (node.ports.tcp_replica === undefined) {
    throw invalid(`${key}.ports.tcp_replica`, "is missing; it is where the other nodes connect to");
  }
  for (const [name, port] of Object.entries(node.ports)) {
    if (port === undefined) continue;
    const address = `${node.ip}:${port}`;
    const own = `${key}.ports.${name}`;
    const first = seen.get(address);
    if (first !== undefined) throw invalid(own, `is ${port}; ${first} has the same address ${address}`);
    seen.set(address, own);
  }
}

function ownReplica(nodes: readonly ClusterNode[], replica: number | undefined): number {
  const ids = nodes.map((node) => node.replica_id).sort((a, b) => a - b);
  if (replica === undefined && nodes.length === 1) return 0;
  if (replica !== undefined && ids.includes(replica)) return replica;
  const given = replica === undefined ? "does not say which of its nodes this is" : `has no node ${replica}`;
  throw invalid("cluster.nodes", `${given}; start with --replica-id and one of ${ids.join(", ")}`);
}

/** The other nodes connect to an address that none of the listeners for clients may take. */
function checkListeners(config: Config, replica: number): void {
  const { nodes } = config.cluster;
  const index = nodes.findIndex((node) => node.replica_id === replica);
  const node = nodes[index];
  if (node === undefined || nodes.length === 1) return;
  for (const name of ["tcp", "http", "websocket"] as const) {
    const { enabled, address } = config[name];
    if (!enabled) continue;
    const { host, port } = parseListenAddress(address, `${name}.address`);
    const isSameHost = host === node.ip || isWildcard(host) || (host === "localhost" && isLoopback(node.ip));
    if (port !== node.ports.tcp_replica || !isSameHost) continue;
    const taken = `cluster.nodes.${index}.ports.tcp_replica is ${port} at ${node.ip}`;
    throw invalid(`${name}.address`, `is ${address}, and ${taken} for the other nodes; use another port`);
  }
}

function isLoopback(ip: string): boolean {
  return ip === "::1" || ip.startsWith("127.");
}

function lengthOf(text: string): number {
  return Buffer.byteLength(text);
}
