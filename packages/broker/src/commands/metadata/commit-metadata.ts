import { assert } from "@millrace/errors";
import { admitRequest } from "@millrace/metadata";
import { decodeResultSection, encodeResultRejection, hasResultSection } from "@millrace/protocol";
import type { MetadataAnswer, MetadataRequest } from "../../metadata-plane/metadata-request.ts";
import { directFields } from "../../replies/direct-fields.ts";
import type { ClientRequest } from "../../sessions/client-request.ts";
import type { Session } from "../../sessions/session.ts";
import type { Shard } from "../../shard.ts";
import type { Handler } from "../handler.ts";

/**
 * Every change of the catalog: checked as far as it can be without it, then agreed on by the metadata group,
 * which decides the rest when the op commits. A repeated request gets its stored reply, byte for byte.
 * @see wire-protocol sections 4.1, 5.3
 */
export const commitMetadata: Handler = (shard, request, session) => {
  const { operation, body } = admitRequest(request.operation, request.body);
  commitOp(shard, request, session, { operation, body: body.slice() });
};

/** Submits an op for a client's request and answers the request with what it came to. */
export function commitOp(
  shard: Shard,
  request: ClientRequest,
  session: Session,
  op: { readonly operation: number; readonly body: Uint8Array },
): void {
  shard.metadata.submit({
    ...metadataRequest(request, session),
    ...op,
    answered: (answer) => answerMetadata(shard, request, answer, op.operation),
  });
}

/**
 * Who asks, in the words of the metadata group: the session of the connection counts, not that of the header.
 */
export function metadataRequest(
  request: ClientRequest,
  session: Session,
): Pick<MetadataRequest, "client" | "session" | "request" | "user" | "bodyChecksum"> {
  return {
    client: session.client,
    session: session.session,
    request: request.number,
    user: session.user,
    bodyChecksum: request.givenChecksum,
  };
}

/** True when the request was carried out, now and not when it came before. */
export function isNewSuccess(answer: MetadataAnswer): boolean {
  return answer.kind === "reply" && !answer.isRepeated && decodeResultSection(answer.body).code === 0;
}

/**
 * Passes on how the group answered. Refusals stand in the result section where the reply's operation has one.
 */
export function answerMetadata(
  shard: Shard,
  request: ClientRequest,
  answer: MetadataAnswer,
  replyOperation: number,
): void {
  switch (answer.kind) {
    case "reply": {
      const { op, commit, view, timestamp, operation, body } = answer;
      const fields = { bodyLength: 0, op, commit, view, timestamp, operation };
      request.answer(body.length === 0 ? [] : [body], fields);
      return;
    }
    case "evicted":
      assert(request.client !== 0n, "a client id of 0 does not pass the header check");
      shard.metrics.evictions.add(1);
      request.evict(answer.reason, { client: request.client });
      return;
    case "refused":
      shard.metrics.refusals.add(1);
      if (hasResultSection(replyOperation)) {
        const fields = { ...directFields(shard, request.connection), operation: replyOperation };
        request.answer([encodeResultRejection(answer.code)], fields);
      } else request.refuse(answer.code, directFields(shard, request.connection));
  }
}
