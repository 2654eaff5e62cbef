import { decodeRecordsWith, encodeRecordsWith } from "../body-codec.ts";
import { readUserRecord, type UserRecord, writeUserRecord } from "./user-record.ts";

/** Every user, sorted by id, records to the end. The request has no body. */
export function encodeGetUsersReply(users: readonly UserRecord[]): Uint8Array {
  return encodeRecordsWith(writeUserRecord, users);
}

/** The counterpart of `encodeGetUsersReply`; throws WireError. */
export function decodeGetUsersReply(payload: Uint8Array): UserRecord[] {
  return decodeRecordsWith(readUserRecord, payload);
}
