import { CodedError, ErrorCode } from "@millrace/errors";
import { U64_MAX } from "@millrace/protocol";
import type { Catalog } from "../catalog/catalog.ts";
import { type ApplyResult, type CommittedOp, success } from "../committed-op.ts";
import { decodeCreateTokenOp } from "./create-token-op.ts";
import { ownUser } from "./own-user.ts";

/**
 * Gives the user who asks another token. The payload is empty here: only the host that made the token knows
 * it, and puts it into the one reply that shows it.
 * @throws CodedError PersonalAccessTokenAlreadyExists, InvalidPersonalAccessTokenExpiry for a time that a u64
 *         of micros cannot hold
 */
export function createToken(catalog: Catalog, op: CommittedOp): ApplyResult {
  const { name, digest, expiryMicros } = decodeCreateTokenOp(op.body);
  const user = ownUser(catalog, op);
  const isTaken = user.tokens.some((token) => token.name === name);
  if (isTaken || catalog.users.byToken(digest) !== undefined) {
    throw new CodedError(ErrorCode.PersonalAccessTokenAlreadyExists);
  }
  const token = { name, digest, expiryAt: expiryAtOf(expiryMicros, op.timestamp) };
  catalog.users.replace({ ...user, tokens: [...user.tokens, token] });
  return success();
}

function expiryAtOf(expiryMicros: bigint, nowMicros: number): bigint {
  if (expiryMicros === 0n || expiryMicros === U64_MAX) return 0n;
  const expiryAt = BigInt(nowMicros) + expiryMicros;
  if (expiryAt <= U64_MAX) return expiryAt;
  throw new CodedError(ErrorCode.InvalidPersonalAccessTokenExpiry, "The token would expire too late.");
}
