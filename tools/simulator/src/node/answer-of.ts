import type { Output } from "@millrace/vsr";
import type { NodePacket } from "../client/packets.ts";
import { decodeOffset } from "./reply-body.ts";

/** An answer, and to whom. */
export interface Answer {
  readonly client: bigint;
  readonly packet: NodePacket;
}

/**
 * What a client hears of an output; nothing of what is not for clients, and of a request that is dropped.
 * @param session  of the request that the output answers
 */
export function answerOf(output: Output, session: number): Answer | undefined {
  switch (output.kind) {
    case "reply":
    case "replay": {
      const { client, request, op, body } = output;
      return { client, packet: { kind: "reply", request, op, offset: decodeOffset(body) } };
    }
    case "reject": {
      const { client, request, code } = output;
      return { client, packet: { kind: "reject", request, code } };
    }
    case "evict": {
      const { client, reason } = output;
      return { client, packet: { kind: "evict", session, reason } };
    }
    default:
      return undefined;
  }
}
