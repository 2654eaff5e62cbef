import { CodedError, ErrorCode } from "@millrace/errors";
import type { User } from "@millrace/metadata";
import { CommandCode, decodeBody, decodeReadWithoutLogin } from "@millrace/protocol";
import { whyNoLogin } from "../cluster/why-no-login.ts";
import { refuseWithCode, refusingErrors } from "../commands/handler.ts";
import { type AnswerRead, tellClusterGroups } from "../commands/system/get-cluster-groups.ts";
import { tellClusterMetadata } from "../commands/system/get-cluster-metadata.ts";
import type { Shard } from "../shard.ts";
import { checkCredentials, checkVersion } from "./check-credentials.ts";
import type { ClientRequest } from "./client-request.ts";
import type { Session } from "./session.ts";

/**
 * What can be read so: what the node itself knows of its cluster, and what others tell it about themselves.
 */
const READS: ReadonlyMap<number, AnswerRead> = new Map([
  [CommandCode.GetClusterMetadata, tellClusterMetadata],
  [CommandCode.GetClusterGroups, tellClusterGroups],
]);

/**
 * Answers a read about the cluster to somebody who brings his credentials along. A login is a write, which a
 * majority of the nodes has to agree on; whoever wants to know why there is none cannot have one.
 *
 * Wrong credentials end the connection, as at a login. Codes: those of the read, 5 for any other read and on
 * a server that stands alone, 58 while nobody can say who is right: the node was not taken in yet, is
 * busy, or elects. Words why follow only where other nodes are missing: anything else passes by itself, and
 * clients go on asking.
 */
export function readWithoutLogin(shard: Shard, request: ClientRequest): void {
  refusingErrors(shard, request, () => {
    const { login, code, body } = decodeBody(decodeReadWithoutLogin, request.body);
    const read = READS.get(code);
    if (read === undefined || shard.standings === undefined) throw notServed(code);
    checkVersion(shard, request, login, () =>
      checkCredentials(shard, request, {
        body: login,
        proven: ({ user }) =>
          refusingErrors(shard, request, () =>
            read(shard, request, { body, session: momentOf(shard, user) }),
          ),
        putOff: () => refuseWithCode(shard, request, ErrorCode.TransientNotAccepted, whyNoLogin(shard)),
      }),
    );
  });
}

/** What a session that begins now would be, for the check of rights; it is bound to nothing. */
function momentOf(shard: Shard, user: User): Session {
  const session = shard.metadata.commit + 1;
  return { client: 0n, session, user: user.id, isFenced: false, countsRequests: false };
}

function notServed(code: number): CodedError {
  const text = "Only what a node of a cluster knows of it can be read without a login.";
  return new CodedError(ErrorCode.FeatureUnavailable, text, { details: { code } });
}
