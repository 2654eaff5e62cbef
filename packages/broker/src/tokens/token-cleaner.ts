import {
  EXPIRED_TOKENS_PER_OP_MAX,
  encodeDeleteExpiredTokens,
  MetadataOperation,
  ROOT_USER_ID,
} from "@millrace/metadata";
import { SERVER_CLIENT } from "@millrace/vsr";
import type { Shard } from "../shard.ts";

/**
 * Deletes expired tokens, every interval, 256 at most in a pass: one op, which looks at each of them again.
 *
 * A token is refused from its expiry on whether or not it was deleted.
 * @returns stops cleaning
 */
export function cleanExpiredTokens(shard: Shard): () => void {
  const { isEnabled, intervalMs } = shard.config.tokenCleaner;
  if (!isEnabled) return () => {};
  const { clock } = shard.platform;
  let isBusy = false;
  const clean = () => {
    timer = clock.setTimer(intervalMs, clean);
    if (isBusy || !shard.metadata.isPrimary) return;
    const tokens = shard.catalog.expiredTokens(clock.wallMicros(), EXPIRED_TOKENS_PER_OP_MAX);
    if (tokens.length === 0) return;
    isBusy = true;
    deleteTokens(shard, tokens, () => {
      isBusy = false;
    });
  };
  let timer = clock.setTimer(intervalMs, clean);
  return () => timer.cancel();
}

function deleteTokens(
  shard: Shard,
  tokens: Parameters<typeof encodeDeleteExpiredTokens>[0],
  done: () => void,
): void {
  shard.metadata.submit({
    client: SERVER_CLIENT,
    session: 0,
    request: 0n,
    operation: MetadataOperation.deleteExpiredTokens,
    user: ROOT_USER_ID,
    body: encodeDeleteExpiredTokens(tokens),
    bodyChecksum: 0n,
    answered(answer) {
      shard.platform.log.info("Expired tokens were deleted.", {
        tokens: tokens.length,
        outcome: answer.kind,
      });
      done();
    },
  });
}
