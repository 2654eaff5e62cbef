import { ErrorCode } from "@millrace/errors";
import { UserStatus } from "@millrace/metadata";
import {
  decodeResultSection,
  EvictionReason,
  encodeLoginReply,
  encodeResultSuccess,
  nextRequestOf,
  Operation,
  PROTOCOL_VERSION,
  SERVER_VERSION_TEXT,
  type VersionPrefix,
} from "@millrace/protocol";
import { answerMetadata } from "../commands/metadata/commit-metadata.ts";
import { evict } from "../evictions/evict.ts";
import type { MetadataAnswer } from "../metadata-plane/metadata-request.ts";
import { directFields } from "../replies/direct-fields.ts";
import type { Shard } from "../shard.ts";
import { type CredentialClaim, checkCredentials, checkVersion, type Proof } from "./check-credentials.ts";
import type { ClientRequest } from "./client-request.ts";
import { countsRequests } from "./counting-sdks.ts";
import { endSession } from "./logout.ts";
import type { Session } from "./session.ts";
import { endingOfLogin } from "./user-sessions.ts";

/** More logins wait than may: the client tries again under the same id, see `PasswordChecks`. */
const BUSY: MetadataAnswer = { kind: "refused", code: ErrorCode.TransientNotAccepted };

/**
 * Login (Register): version gate, credentials, then a session agreed on by the metadata group.
 *
 * On a connection that has a session the same one is answered again, whatever the body says. Every refusal is
 * an eviction: 14 version, 15 body, 9 credentials (bad lengths, unknown name, wrong password, inactive user),
 * 10 token (unknown or expired), 11 token of an inactive user. While too many passwords wait to be checked it
 * answers 58, as does a node that its cluster has not taken in yet.
 * @see wire-protocol section 5.1
 */
export function login(shard: Shard, request: ClientRequest): void {
  const { session } = request.connection;
  if (session !== undefined) answerAgain(shard, request, session);
  else {
    checkVersion(shard, request, request.body, (prefix) => {
      if (request.connection.vouchedUser !== undefined) registerVouched(shard, request, prefix);
      else checkCredentials(shard, request, loginClaim(shard, request));
    });
  }
}

/** What becomes of a login whose credentials are right. */
function loginClaim(shard: Shard, request: ClientRequest): CredentialClaim {
  return {
    body: request.body,
    proven: (proof) => register(shard, request, proof),
    putOff: () => answerMetadata(shard, request, BUSY, Operation.Register),
  };
}

/** The transport has proved who it is; the very same user must still be there and active. */
function registerVouched(shard: Shard, request: ClientRequest, prefix: VersionPrefix): void {
  const { vouchedUser } = request.connection;
  const user = vouchedUser && shard.catalog.userById(vouchedUser.id);
  const isSame = user !== undefined && user.createdAt <= vouchedUser!.provedAtMicros;
  if (isSame && user.status === UserStatus.active) register(shard, request, { prefix, user, context: "" });
  else evict(shard, request, EvictionReason.UserInactive);
}

function answerAgain(shard: Shard, request: ClientRequest, { user, session }: Session): void {
  const reply = encodeLoginReply({
    userId: user,
    session,
    serverProtocolVersion: PROTOCOL_VERSION,
    serverVersion: SERVER_VERSION_TEXT,
  });
  request.answer([encodeResultSuccess(reply)], directFields(shard, request.connection));
}

/**
 * Agrees on a session. A user who was deleted or made inactive since his check gets none, nor does one whose
 * password or token is another one since.
 */
function register(shard: Shard, request: ClientRequest, proof: Proof): void {
  const { client } = request;
  const { prefix, user } = proof;
  const token = request.connection.endsWithToken ? proof.token : undefined;
  shard.metadata.submit({
    client,
    session: 0,
    request: 0n,
    operation: Operation.Register,
    user: user.id,
    body: new Uint8Array(0),
    bodyChecksum: 0n,
    isWanted: () => !request.connection.isEnded,
    answered(answer) {
      if (isRegistered(answer)) {
        bindSession(shard, request, {
          ...{ client, session: answer.op, user: user.id, token, isFenced: false },
          ...numbersOf(proof),
        });
        const { number, remoteAddress } = request.connection;
        shard.platform.log.debug("A client is logged in.", {
          number,
          remoteAddress,
          user: user.id,
          sdk: sdkOf(prefix),
        });
      }
      const ending = isRegistered(answer) ? endingOfLogin(shard, proof) : undefined;
      if (ending !== undefined) evict(shard, request, ending);
      else answerMetadata(shard, request, answer, Operation.Register);
    },
  });
}

function isRegistered(answer: MetadataAnswer): answer is Extract<MetadataAnswer, { kind: "reply" }> {
  return answer.kind === "reply" && decodeResultSection(answer.body).code === 0;
}

/** Whose numbers count, and from which on they are new, as far as the login tells. */
function numbersOf({ prefix, context }: Proof): Pick<Session, "countsRequests" | "repeatsBelow"> {
  if (!countsRequests(prefix)) return { countsRequests: false };
  const next = nextRequestOf(context);
  return { countsRequests: true, ...(next === undefined ? {} : { repeatsBelow: next }) };
}

function sdkOf({ sdkName, sdkVersion }: VersionPrefix): string {
  return `${sdkName} ${sdkVersion}`;
}

/**
 * The session belongs to the connection now. One that is gone meanwhile is logged out again, but for a
 * cluster: there its client may have logged in on another node before this login was committed, and goes on
 * under the same id. Nobody vouches for the session, so `Liveness` ends it unless the client takes it over.
 */
function bindSession(shard: Shard, request: ClientRequest, session: Session): void {
  const { connection } = request;
  if (connection.isEnded && shard.metadata.isReplicated) return;
  connection.session = session;
  shard.connections.bind(connection);
  if (connection.isEnded) endSession(shard, connection);
}
