import { decodeOptionalWith, decodeWith, encodeOptionalWith, encodeWith } from "../body-codec.ts";
import { readUserDetails, type UserDetails, writeUserDetails } from "./user-record.ts";
import { readUserTarget, type UserTarget, writeUserTarget } from "./user-target.ts";

/** Asks for one user with permissions. */
export type GetUser = UserTarget;

/** The body of a GetUser request. */
export function encodeGetUser(body: GetUser): Uint8Array {
  return encodeWith(writeUserTarget, body);
}

/** The counterpart of `encodeGetUser`; throws WireError. */
export function decodeGetUser(bytes: Uint8Array): GetUser {
  return decodeWith(readUserTarget, bytes);
}

/** The user; empty when there is none. */
export function encodeGetUserReply(user: UserDetails | undefined): Uint8Array {
  return encodeOptionalWith(writeUserDetails, user);
}

/** The counterpart of `encodeGetUserReply`; throws WireError. */
export function decodeGetUserReply(payload: Uint8Array): UserDetails | undefined {
  return decodeOptionalWith(readUserDetails, payload);
}
