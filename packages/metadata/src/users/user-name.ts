import { CodedError, ErrorCode } from "@millrace/errors";
import { USERNAME_LENGTH_MAX, USERNAME_LENGTH_MIN } from "@millrace/protocol";
import type { Catalog } from "../catalog/catalog.ts";

/**
 * Checks a name a user is to have.
 * @param ofUser  id of the user who may keep it, nobody for a new one
 * @throws CodedError InvalidUsername outside 3..=50 bytes, UserAlreadyExists
 */
export function checkUserName(catalog: Catalog, name: string, ofUser?: number): void {
  const { length } = new TextEncoder().encode(name);
  if (length < USERNAME_LENGTH_MIN || length > USERNAME_LENGTH_MAX) {
    throw new CodedError(
      ErrorCode.InvalidUsername,
      `A user name has ${USERNAME_LENGTH_MIN} to ${USERNAME_LENGTH_MAX} bytes.`,
      { details: { length, min: USERNAME_LENGTH_MIN, max: USERNAME_LENGTH_MAX } },
    );
  }
  const namesake = catalog.users.byName(name);
  if (namesake !== undefined && namesake.id !== ofUser) throw new CodedError(ErrorCode.UserAlreadyExists);
}
