import { CodedError, ErrorCode } from "@millrace/errors";
import { encodeCreateTokenOp } from "@millrace/metadata";
import {
  decodeBody,
  decodeCreatePersonalAccessToken,
  decodeResultSection,
  encodeCreatePersonalAccessTokenReply,
  encodeResultSuccess,
  Operation,
} from "@millrace/protocol";
import type { MetadataAnswer } from "../../metadata-plane/metadata-request.ts";
import type { ClientRequest } from "../../sessions/client-request.ts";
import type { Session } from "../../sessions/session.ts";
import type { Shard } from "../../shard.ts";
import { newTokenText } from "../../tokens/token-text.ts";
import type { Handler } from "../handler.ts";
import { answerMetadata, metadataRequest } from "../metadata/commit-metadata.ts";

/**
 * Gives the caller a token. Its text is made here, shown in this one reply and kept nowhere: the log and the
 * reply that the client table keeps have the digest and nothing. A repeated request is refused with 59.
 */
export const createToken: Handler = (shard, request, session) => {
  const { name, expiryMicros } = decodeBody(decodeCreatePersonalAccessToken, request.body);
  checkRoom(shard, request, session);
  const token = newTokenText(shard.platform.random);
  const operation = Operation.CreatePersonalAccessToken;
  shard.metadata.submit({
    ...metadataRequest(request, session),
    operation,
    body: encodeCreateTokenOp({ name, digest: shard.tokenDigest(token), expiryMicros }),
    answered: (answer) => answerMetadata(shard, request, answerWith(token, answer), operation),
  });
};

/**
 * Two requests at once may both find room; the limit is there to bound, not to count.
 * @throws CodedError PersonalAccessTokensLimitReached, unless the request is a repeated one
 */
function checkRoom(shard: Shard, request: ClientRequest, session: Session): void {
  const limit = shard.config.tokensPerUserMax;
  const count = shard.catalog.userById(session.user)?.tokens.length ?? 0;
  const isRepeated = request.number <= (shard.metadata.clientTable.session(session.client)?.watermark ?? 0n);
  if (count < limit || isRepeated) return;
  throw new CodedError(ErrorCode.PersonalAccessTokensLimitReached, `A user holds ${limit} tokens at most.`, {
    details: { limit },
  });
}

function answerWith(token: string, answer: MetadataAnswer): MetadataAnswer {
  if (answer.kind !== "reply" || decodeResultSection(answer.body).code !== 0) return answer;
  if (answer.isRepeated) return { kind: "refused", code: ErrorCode.RequestAlreadyApplied };
  return { ...answer, body: encodeResultSuccess(encodeCreatePersonalAccessTokenReply(token)) };
}
