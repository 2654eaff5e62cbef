import { ErrorCode } from "@millrace/errors";
import { Operation } from "@millrace/protocol";
import { answerMetadata, metadataRequest } from "../commands/metadata/commit-metadata.ts";
import type { MetadataAnswer } from "../metadata-plane/metadata-request.ts";
import type { Shard } from "../shard.ts";
import type { ClientConnection } from "./client-connection.ts";
import type { ClientRequest } from "./client-request.ts";
import type { Session } from "./session.ts";

/** What names a session that somebody other than its client ends. */
export type EndedSession = Pick<Session, "client" | "session" | "user">;

/** Milliseconds until a logout that found no room is tried again. */
const RETRY_DELAY_MS = 100;

/**
 * Ends the session; the connection stays open and unbound. Without a session there is nothing to end: empty
 * success.
 *
 * Refused with 57 or 58 when it cannot commit; the session stays then.
 */
export function logout(shard: Shard, request: ClientRequest): void {
  const { connection } = request;
  const { session } = connection;
  if (session === undefined) {
    request.answer();
    return;
  }
  shard.metadata.submit({
    ...metadataRequest(request, session),
    operation: Operation.Logout,
    body: new Uint8Array(0),
    answered(answer) {
      if (answer.kind === "reply") unbind(shard, connection);
      answerMetadata(shard, request, answer, Operation.Logout);
    },
  });
}

/** Logs the session of a closed connection out, so that its client id leaves the client table. */
export function endSession(shard: Shard, connection: ClientConnection): void {
  const { session } = connection;
  if (session === undefined) return;
  unbind(shard, connection);
  if (!session.isFenced) logoutOnBehalf(shard, session);
}

/**
 * Commits a Logout that no client sent. A newer session of the same client id is not touched: the table
 * refuses the older one's. One that finds no room is tried again later.
 */
export function logoutOnBehalf(shard: Shard, session: EndedSession): void {
  proposeLogout(shard, session, (answer) => {
    if (answer.kind !== "refused" || answer.code === ErrorCode.ShuttingDown) return;
    shard.platform.clock.setTimer(RETRY_DELAY_MS, () => logoutOnBehalf(shard, session));
  });
}

/** Asks once for a Logout that no client sent; a newer session of the same client id is not touched. */
export function proposeLogout(
  shard: Shard,
  { client, session, user }: EndedSession,
  answered: (answer: MetadataAnswer) => void,
): void {
  shard.metadata.submit({
    client,
    session,
    request: 0n,
    operation: Operation.Logout,
    user,
    body: new Uint8Array(0),
    bodyChecksum: 0n,
    answered,
  });
}

function unbind(shard: Shard, connection: ClientConnection): void {
  shard.connections.unbind(connection);
  connection.session = undefined;
}
