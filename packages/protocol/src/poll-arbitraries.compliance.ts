import fc from "fast-check";
import * as any from "./arbitraries.compliance.ts";
import { record } from "./arbitraries.compliance.ts";
import {
  encodePollReplyHead,
  POLL_REPLY_HEAD_LENGTH,
  type PollMessagesReply,
} from "./messages/poll-messages.ts";
import { keysOf } from "./record-arbitraries.compliance.ts";
import { NodeRoleCode, NodeStatusCode } from "./system/get-cluster-metadata.ts";

/** Generators of polls, their answers and the way to where they are answered. */
export const pollRequest = fc
  .tuple(any.offsetTarget, any.pollingStrategy, any.u32, fc.boolean())
  .map(([target, strategy, count, autoCommit]) => ({ ...target, strategy, count, autoCommit }));

export const pollReply = record({
  partitionId: any.u32,
  currentOffset: any.counter,
  count: any.u32,
  batches: fc.uint8Array({ maxLength: 50 }),
});

/** Head and batches as one body, as a client sees them. */
export function encodePollMessagesReply(reply: PollMessagesReply): Uint8Array {
  const body = new Uint8Array(POLL_REPLY_HEAD_LENGTH + reply.batches.length);
  body.set(encodePollReplyHead(reply));
  body.set(reply.batches, POLL_REPLY_HEAD_LENGTH);
  return body;
}

export const clusterNode = record({
  name: any.text,
  ip: any.text,
  tcpPort: any.u16,
  quicPort: any.u16,
  httpPort: any.u16,
  websocketPort: any.u16,
  role: keysOf(NodeRoleCode),
  status: keysOf(NodeStatusCode),
});

export const consumerSession = record({
  client: fc.bigInt({ min: 0n, max: 2n ** 128n - 1n }),
  session: any.counter,
  metadataWatermark: any.counter,
});

export const pollRouting = record({ consumerSession, primary: clusterNode });
