import { ErrorCode } from "@millrace/errors";
import { directFields } from "../../replies/direct-fields.ts";
import type { ClientRequest } from "../../sessions/client-request.ts";
import type { Shard } from "../../shard.ts";

/** Hashes a password and goes on with its stored form. While too many wait, it refuses with 58. */
export function hashPassword(
  shard: Shard,
  request: ClientRequest,
  password: string,
  done: (passwordHash: string) => void,
): void {
  shard.passwordChecks.hash({
    password,
    isWanted: () => !request.connection.isEnded,
    hashed(passwordHash) {
      if (passwordHash !== undefined) done(passwordHash);
      else refuseBusy(shard, request);
    },
  });
}

/** Refuses with 58: too many passwords wait, the client may try again. */
export function refuseBusy(shard: Shard, request: ClientRequest): void {
  request.refuse(ErrorCode.TransientNotAccepted, directFields(shard, request.connection));
}
