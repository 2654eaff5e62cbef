import type { ByteReader, ByteWriter } from "@millrace/framing";
import { readRecords } from "../body-codec.ts";
import { readByteName, writeByteName } from "../byte-names.ts";

/** Transports by the byte they have in a client record. */
export const TransportCode = { tcp: 1, quic: 2, http: 3, websocket: 4 } as const;

/** Transport a client is connected by. */
export type TransportName = keyof typeof TransportCode;

/**
 * A connection as replies show it. `clientId` is a number the server gives to each connection, not the
 * 128-bit client id of the headers.
 */
export interface ClientRecord {
  readonly clientId: number;
  /** Undefined before login. */
  readonly userId: number | undefined;
  readonly transport: TransportName;
  /** `host:port`. */
  readonly address: string;
  readonly groupsCount: number;
}

/** A consumer group a client is a member of. */
export interface GroupMembership {
  readonly streamId: number;
  readonly topicId: number;
  readonly groupId: number;
}

/** A connection with its group memberships. */
export interface ClientDetails extends ClientRecord {
  readonly groups: readonly GroupMembership[];
}

const NO_USER = 0xffff_ffff;

/** Shape: client u32, user u32, transport u8, address (u32 length), groups u32. Section 8.7. */
export function writeClientRecord(writer: ByteWriter, client: ClientRecord): void {
  writer.u32(client.clientId).u32(client.userId ?? NO_USER);
  writeByteName(writer, TransportCode, client.transport);
  writer.str32(client.address).u32(client.groupsCount);
}

/** The counterpart of `writeClientRecord`. */
export function readClientRecord(reader: ByteReader): ClientRecord {
  const clientId = reader.u32();
  const userId = reader.u32();
  return {
    clientId,
    userId: userId === NO_USER ? undefined : userId,
    transport: readByteName(reader, TransportCode),
    address: reader.str32(),
    groupsCount: reader.u32(),
  };
}

/**
 * Shape: the record, whose count of groups is that of the list, then stream, topic and group u32 for each.
 */
export function writeClientDetails(writer: ByteWriter, client: ClientDetails): void {
  writeClientRecord(writer, { ...client, groupsCount: client.groups.length });
  for (const { streamId, topicId, groupId } of client.groups) writer.u32(streamId).u32(topicId).u32(groupId);
}

/** The counterpart of `writeClientDetails`. */
export function readClientDetails(reader: ByteReader): ClientDetails {
  const client = readClientRecord(reader);
  return { ...client, groups: readRecords(reader, readMembership, client.groupsCount) };
}

function readMembership(reader: ByteReader): GroupMembership {
  return { streamId: reader.u32(), topicId: reader.u32(), groupId: reader.u32() };
}
