import { decodeWith, encodeWith } from "../body-codec.ts";
import { readUserTarget, type UserTarget, writeUserTarget } from "./user-target.ts";

/** Deletes a user and its tokens. The reply has no payload. */
export type DeleteUser = UserTarget;

/** The body of a DeleteUser request. */
export function encodeDeleteUser(body: DeleteUser): Uint8Array {
  return encodeWith(writeUserTarget, body);
}

/** The counterpart of `encodeDeleteUser`; throws WireError. */
export function decodeDeleteUser(bytes: Uint8Array): DeleteUser {
  return decodeWith(readUserTarget, bytes);
}
