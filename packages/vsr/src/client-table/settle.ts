import type { Output, ReplyFields } from "../output.ts";
import { type Prepare, SessionOperation } from "../prepare.ts";
import type { ClientTable } from "./client-table.ts";

/** Eviction reason of a client id that belongs to another user. */
const SESSION_ERROR = 12;

/**
 * Brings the client table up to a committed op and says what its client hears.
 *
 * The primary sends that; a backup, and a host that replays its journal at start, ignore it. A Register whose
 * id belongs to another user, or that finds the table full, is a committed op without effect. Register and
 * Logout replies are not kept: a repeated Register registers again, and after a Logout there is no session to
 * keep them in.
 * @param body the reply's body as the state machine made it, kept by reference; never written again
 */
export function settle(table: ClientTable, prepare: Prepare, body: Uint8Array): Output {
  if (prepare.operation === SessionOperation.register) {
    const registration = table.register(prepare.client, prepare.user, prepare.op);
    if (registration === "other-user")
      return { kind: "evict", client: prepare.client, reason: SESSION_ERROR };
    if (registration === "full") return notAccepted(prepare);
  } else if (prepare.operation === SessionOperation.logout) {
    table.remove(prepare.client);
  } else {
    table.record(replyTo(prepare, body), prepare.bodyChecksum);
  }
  return { kind: "reply", context: prepare.body, ...replyTo(prepare, body) };
}

/**
 * `commit` is the op itself: it was committed when the reply was made, and every replica can say the same.
 */
function replyTo(prepare: Prepare, body: Uint8Array): ReplyFields {
  const { client, request, op, view, timestamp, operation } = prepare;
  return { client, request, op, view, commit: op, timestamp, operation, body };
}

function notAccepted({ client, request, operation }: Prepare): Output {
  return { kind: "reject", code: 58, client, request, operation };
}
