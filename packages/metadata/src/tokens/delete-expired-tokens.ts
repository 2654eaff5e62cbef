import { ByteReader, ByteWriter } from "@millrace/framing";
import type { Catalog } from "../catalog/catalog.ts";
import { isExpired } from "../catalog/token.ts";
import type { TokenName } from "../catalog/user-set.ts";
import { type ApplyResult, type CommittedOp, success } from "../committed-op.ts";

/** Tokens in one op: the reference's bound of a pass of its cleaner. */
export const EXPIRED_TOKENS_PER_OP_MAX = 256;

/** Body of operation 202. Shape: count u32, then per token: user id u32, name. */
export function encodeDeleteExpiredTokens(tokens: readonly TokenName[]): Uint8Array {
  const writer = new ByteWriter().u32(tokens.length);
  for (const { userId, name } of tokens) writer.u32(userId).name(name);
  return writer.finish();
}

function decodeDeleteExpiredTokens(bytes: Uint8Array): TokenName[] {
  const reader = new ByteReader(bytes);
  const count = reader.u32();
  const tokens: TokenName[] = [];
  for (let index = 0; index < count; index += 1) tokens.push({ userId: reader.u32(), name: reader.name() });
  reader.finish();
  return tokens;
}

/** Deletes those of the named tokens that are there and expired when the op was made; the others stay. */
export function deleteExpiredTokens(catalog: Catalog, op: CommittedOp): ApplyResult {
  for (const { userId, name } of decodeDeleteExpiredTokens(op.body)) {
    const user = catalog.users.byId(userId);
    const tokens = user?.tokens.filter((token) => token.name !== name || !isExpired(token, op.timestamp));
    if (user === undefined || tokens === undefined || tokens.length === user.tokens.length) continue;
    catalog.users.replace({ ...user, tokens });
  }
  return success();
}
