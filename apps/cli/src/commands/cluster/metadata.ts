import type { ClusterNode } from "@millrace/protocol";
import { type Field, rows } from "../../output/result.ts";
import { type AddCommand, listLeaf } from "../command.ts";

/** A port of 0 means that the node does not speak that transport. */
function portField(name: string, title: string, port: (node: ClusterNode) => number): Field<ClusterNode> {
  return { name, title, value: port, text: (node) => (port(node) === 0 ? "off" : String(port(node))) };
}

const NODE_FIELDS: readonly Field<ClusterNode>[] = [
  { name: "name", title: "Name", value: (node) => node.name },
  { name: "ip", title: "IP", value: (node) => node.ip },
  portField("tcp", "TCP", (node) => node.tcpPort),
  portField("quic", "QUIC", (node) => node.quicPort),
  portField("http", "HTTP", (node) => node.httpPort),
  portField("websocket", "WebSocket", (node) => node.websocketPort),
  { name: "role", title: "Role", value: (node) => node.role },
  { name: "status", title: "Status", value: (node) => node.status },
];

/** `millrace cluster metadata` */
export const addClusterMetadata: AddCommand = (parent, run) => {
  listLeaf(parent, { name: "metadata", alias: "m", summary: "list the nodes of the cluster" }).action(
    run(async ({ client }) => {
      const cluster = await (await client()).getClusterMetadata();
      const nodes = rows(NODE_FIELDS, cluster.nodes, "The cluster names no nodes.");
      return {
        json: { name: cluster.name, nodes: nodes.json },
        parts: nodes.parts,
      };
    }),
  );
};
