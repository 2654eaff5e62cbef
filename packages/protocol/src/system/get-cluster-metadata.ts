import type { ByteReader, ByteWriter } from "@millrace/framing";
import { decodeWith, encodeWith, readRecords } from "../body-codec.ts";
import { readByteName, writeByteName } from "../byte-names.ts";

/** Roles of a node as clients see them, by their byte: the wire's words, not those of consensus. */
export const NodeRoleCode = { leader: 0, follower: 1 } as const;

/** States of a node as clients see them, by their byte. */
export const NodeStatusCode = {
  healthy: 0,
  starting: 1,
  stopping: 2,
  unreachable: 3,
  maintenance: 4,
} as const;

/** One node of the roster. A port of 0 means that the transport is off. */
export interface ClusterNode {
  readonly name: string;
  /** The advertised address: clients connect to it, so it has to be reachable for them. */
  readonly ip: string;
  readonly tcpPort: number;
  readonly quicPort: number;
  readonly httpPort: number;
  readonly websocketPort: number;
  readonly role: keyof typeof NodeRoleCode;
  readonly status: keyof typeof NodeStatusCode;
}

/** The roster that clients ask for after each login. Clients stay where they are when it names one node. */
export interface ClusterMetadata {
  readonly name: string;
  readonly nodes: readonly ClusterNode[];
}

/** Shape: section 8.11. The request has no body. */
export function encodeGetClusterMetadataReply(cluster: ClusterMetadata): Uint8Array {
  return encodeWith(writeClusterMetadata, cluster);
}

/** The counterpart of `encodeGetClusterMetadataReply`; throws WireError. */
export function decodeGetClusterMetadataReply(payload: Uint8Array): ClusterMetadata {
  return decodeWith(readClusterMetadata, payload);
}

function writeClusterMetadata(writer: ByteWriter, cluster: ClusterMetadata): void {
  writer.str32(cluster.name).u32(cluster.nodes.length);
  for (const node of cluster.nodes) writeClusterNode(writer, node);
}

function readClusterMetadata(reader: ByteReader): ClusterMetadata {
  return { name: reader.str32(), nodes: readRecords(reader, readClusterNode, reader.u32()) };
}

/** Name, address, four ports u16, role u8, status u8. */
export function writeClusterNode(writer: ByteWriter, node: ClusterNode): void {
  writer.str32(node.name).str32(node.ip);
  writer.u16(node.tcpPort).u16(node.quicPort).u16(node.httpPort).u16(node.websocketPort);
  writeByteName(writer, NodeRoleCode, node.role);
  writeByteName(writer, NodeStatusCode, node.status);
}

/** The counterpart of `writeClusterNode`; throws WireError. */
export function readClusterNode(reader: ByteReader): ClusterNode {
  return {
    name: reader.str32(),
    ip: reader.str32(),
    tcpPort: reader.u16(),
    quicPort: reader.u16(),
    httpPort: reader.u16(),
    websocketPort: reader.u16(),
    role: readByteName(reader, NodeRoleCode),
    status: readByteName(reader, NodeStatusCode),
  };
}
