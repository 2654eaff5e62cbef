import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { encodeRequestHeader, HEADER_LENGTH } from "@millrace/framing";
import { Operation } from "@millrace/protocol";
import { freePorts, NODES, type SeededRandom } from "@millrace/testkit";
import { Violation } from "../oracle/violation.ts";
import { CLUSTER_NAME, type ClusterNodes, nodeProcess, SECRET } from "./cluster-nodes.ts";

/** An intruder dials each second: long enough for some attempts. */
const INTRUSION_MS = 2500;
/** How long a socket that was not closed stays. */
const SOCKET_MS = 500;
/** The id that intruders claim: the lower id dials, so this one dials everybody. */
const CLAIMED = 0;

/**
 * Processes that claim to be node 0, and the reason that the others give in their logs. What an intruder
 * knows is only looked at while the node itself is away: before, its connection stands in the way.
 */
const INTRUDERS = [
  {
    what: "wrong-secret",
    name: CLUSTER_NAME,
    secret: "a secret that nobody of this cluster has",
    reason: "unproven",
  },
  { what: "other-cluster", name: "another cluster", secret: SECRET, reason: "other_cluster" },
  { what: "same-id", name: CLUSTER_NAME, secret: SECRET, reason: "already_connected" },
] as const;

/** What does not belong to the cluster and comes to its replica ports. */
export class ClusterStrangers {
  readonly #nodes: ClusterNodes;
  readonly #entry: string;
  readonly #folder: string;

  /** @param place.folder  where the folders of intruders are made */
  constructor(nodes: ClusterNodes, place: { readonly entry: string; readonly folder: string }) {
    this.#nodes = nodes;
    this.#entry = place.entry;
    this.#folder = place.folder;
  }

  /** Sends bytes that are no handshake to every replica port. Throws Violation server when one is silent. */
  async sendBytes(random: SeededRandom): Promise<void> {
    const request = new Uint8Array(HEADER_LENGTH);
    encodeRequestHeader(request, { length: HEADER_LENGTH, client: 9n, operation: Operation.Register });
    const all = [request, new Uint8Array(HEADER_LENGTH), random.bytes(3000), request.subarray(0, 7)];
    for (const { replicaPort } of this.#nodes.nodes) {
      await Promise.all(all.map((bytes) => sendTo(replicaPort, bytes)));
    }
    await this.#expectRefusals("client", [...NODES]);
  }

  /** Lets one process after the other claim an id. Throws Violation server when it is not refused. */
  async intrude(): Promise<string> {
    await this.#nodes.kill(CLAIMED);
    for (const intruder of INTRUDERS) {
      if (intruder.reason === "already_connected") await this.#startClaimed();
      const server = nodeProcess({
        ...{ entry: this.#entry, folder: join(this.#folder, intruder.what), replica: CLAIMED },
        ...(await this.#placeOf(intruder)),
      });
      await server.start();
      await sleep(INTRUSION_MS);
      await server.kill();
      const others = NODES.filter((at) => at !== CLAIMED);
      await this.#expectRefusals(intruder.reason, others);
    }
    return INTRUDERS.map(({ what }) => what).join(", ");
  }

  /** Starts the node itself and waits until all are connected to it. */
  async #startClaimed(): Promise<void> {
    await this.#nodes.start(CLAIMED);
    await sleep(INTRUSION_MS);
  }

  async #placeOf({ name, secret }: { readonly name: string; readonly secret: string }) {
    const [clientPort = 0, ownPort = 0] = await freePorts(2);
    const ports = this.#nodes.nodes.map((node) =>
      node.replica === CLAIMED
        ? { tcp: clientPort, tcp_replica: ownPort }
        : { tcp: node.clientPort, tcp_replica: node.replicaPort },
    );
    return { clientPort, config: { name, secret, ports } };
  }

  async #expectRefusals(reason: string, nodes: readonly number[]): Promise<void> {
    const silent = nodes.filter((at) => !this.#nodes.node(at).server.log().includes(`"reason":"${reason}"`));
    if (silent.length === 0) return;
    throw new Violation("server", `nodes ${silent} do not say that they refused a connection: ${reason}`);
  }
}

/** Resolves when the other side closed, or after a while. */
function sendTo(port: number, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(bytes));
    const timer = setTimeout(() => socket.destroy(), SOCKET_MS);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
