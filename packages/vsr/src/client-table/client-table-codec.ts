import { CodedError, ErrorCode } from "@millrace/errors";
import { ByteReader, ByteWriter, isWireError } from "@millrace/framing";
import type { CachedReply, Session } from "./session.ts";

/** Version of the layout below; a newer one is refused. */
const CLIENT_TABLE_VERSION = 1;

/**
 * Snapshot bytes of a client table. Equal sessions give equal bytes.
 *
 * Shape: version u32, count u32, then per session in ascending client id: client u128, user u32, epoch u64,
 * watermark u64, count u8, then per reply in ascending op: request u64, op u64, view u32, commit u64,
 * timestamp u64, operation u8, body checksum u128, body u32 length + bytes.
 */
export function encodeClientTable(sessions: readonly Session[]): Uint8Array {
  const writer = new ByteWriter();
  writer.u32(CLIENT_TABLE_VERSION).u32(sessions.length);
  for (const session of sessions) {
    writer.u128(session.client).u32(session.user).u64(session.epoch).u64(session.watermark);
    writer.u8(session.replies.length);
    for (const reply of session.replies) {
      writer.u64(reply.request).u64(reply.op).u32(reply.view).u64(reply.commit).u64(reply.timestamp);
      writer.u8(reply.operation).u128(reply.bodyChecksum).bytes32(reply.body);
    }
  }
  return writer.finish();
}

/**
 * Sessions of a snapshot, in ascending client id; reply bodies are copies.
 *
 * @throws CodedError MetadataDamaged with the position, for anything that `encodeClientTable` cannot have
 *                    written; FormatTooNew for a newer version
 */
export function decodeClientTable(bytes: Uint8Array): Session[] {
  const reader = new ByteReader(bytes);
  try {
    return readSessions(reader);
  } catch (error) {
    if (!isWireError(error)) throw error;
    throw damaged(error.position, error);
  }
}

function readSessions(reader: ByteReader): Session[] {
  const version = reader.u32();
  if (version > CLIENT_TABLE_VERSION) {
    throw new CodedError(ErrorCode.FormatTooNew, "The client table was written by a newer release.", {
      details: { version, supported: CLIENT_TABLE_VERSION },
    });
  }
  if (version !== CLIENT_TABLE_VERSION) throw damaged(0);
  const count = reader.u32();
  const sessions: Session[] = [];
  const ops = new Set<number>();
  for (let index = 0; index < count; index += 1) {
    const position = reader.position;
    const session = readSession(reader, ops);
    const previous = sessions.at(-1);
    if (previous !== undefined && previous.client >= session.client) throw damaged(position);
    sessions.push(session);
  }
  reader.finish();
  return sessions;
}

function readSession(reader: ByteReader, ops: Set<number>): Session {
  const client = reader.u128();
  const user = reader.u32();
  const epoch = reader.u64Number();
  const watermark = reader.u64();
  const count = reader.u8();
  const replies: CachedReply[] = [];
  for (let index = 0; index < count; index += 1) {
    const position = reader.position;
    const reply = readReply(reader, client);
    if (reply.op <= (replies.at(-1)?.op ?? 0) || ops.has(reply.op)) throw damaged(position);
    ops.add(reply.op);
    replies.push(reply);
  }
  return { client, user, epoch, watermark, replies };
}

function readReply(reader: ByteReader, client: bigint): CachedReply {
  const request = reader.u64();
  const op = reader.u64Number();
  const view = reader.u32();
  const commit = reader.u64Number();
  const timestamp = reader.u64Number();
  const operation = reader.u8();
  const bodyChecksum = reader.u128();
  const body = reader.bytes32().slice();
  return { client, request, op, view, commit, timestamp, operation, bodyChecksum, body };
}

function damaged(position: number, cause?: unknown): CodedError {
  return new CodedError(ErrorCode.MetadataDamaged, "The client table of the snapshot is damaged.", {
    details: { position },
    ...(cause === undefined ? {} : { cause }),
  });
}
