import { ErrorCode, isCodedError } from "@millrace/errors";
import { isExpired, type User, UserStatus } from "@millrace/metadata";
import {
  acceptsProtocolVersion,
  decodeBody,
  decodeLoginRegister,
  decodeLoginRegisterWithPat,
  decodeResultSection,
  decodeVersionPrefix,
  EvictionReason,
  encodeLoginReply,
  encodeResultSuccess,
  type LoginRegister,
  type LoginRegisterWithPat,
  Operation,
  PASSWORD_LENGTH_MAX,
  PASSWORD_LENGTH_MIN,
  PROTOCOL_VERSION,
  SERVER_VERSION_TEXT,
  USERNAME_LENGTH_MAX,
  USERNAME_LENGTH_MIN,
  type VersionPrefix,
} from "@millrace/protocol";
import { answerMetadata } from "../commands/metadata/commit-metadata.ts";
import { evict } from "../evictions/evict.ts";
import type { MetadataAnswer } from "../metadata-plane/metadata-request.ts";
import { directFields } from "../replies/direct-fields.ts";
import type { Shard } from "../shard.ts";
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
  const prefix = decoded(decodeVersionPrefix, request.body);
  if (session !== undefined) answerAgain(shard, request, session);
  else if (prefix === undefined) evict(shard, request, EvictionReason.MalformedLogin);
  else if (!acceptsProtocolVersion(prefix.protocolVersion, PROTOCOL_VERSION)) {
    evict(shard, request, EvictionReason.IncompatibleProtocol, { versionWindow: true });
  } else if (request.connection.vouchedUser !== undefined) registerVouched(shard, request, prefix);
  else checkCredentials(shard, request);
}

/** The transport has proved who it is; the very same user must still be there and active. */
function registerVouched(shard: Shard, request: ClientRequest, prefix: VersionPrefix): void {
  const { vouchedUser } = request.connection;
  const user = vouchedUser && shard.catalog.userById(vouchedUser.id);
  const isSame = user !== undefined && user.createdAt <= vouchedUser!.provedAtMicros;
  if (isSame && user.status === UserStatus.active) register(shard, request, prefix, user);
  else evict(shard, request, EvictionReason.UserInactive);
}

/** Name and password are tried first, then a token: a body may read as either. */
function checkCredentials(shard: Shard, request: ClientRequest): void {
  const byPassword = decoded(decodeLoginRegister, request.body);
  const byToken = decoded(decodeLoginRegisterWithPat, request.body);
  const refuse = refuser(shard, request);
  const isWrong = () => refuse(EvictionReason.InvalidCredentials);
  if (byPassword !== undefined) {
    checkPassword(shard, request, byPassword, () => {
      if (byToken !== undefined) checkToken(shard, request, byToken, isWrong);
      else isWrong();
    });
  } else if (byToken !== undefined) {
    checkToken(shard, request, byToken, () => refuse(EvictionReason.InvalidToken));
  } else evict(shard, request, EvictionReason.MalformedLogin);
}

/** What a body decodes to, or nothing when it does not. */
function decoded<T>(decode: (bytes: Uint8Array) => T, body: Uint8Array): T | undefined {
  try {
    return decodeBody(decode, body);
  } catch (error) {
    if (!isCodedError(error)) throw error;
    return undefined;
  }
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

/** Takes the same time for an unknown name, a wrong password and an inactive user. */
function checkPassword(shard: Shard, request: ClientRequest, body: LoginRegister, wrong: () => void): void {
  if (!hasGoodLengths(body)) {
    wrong();
    return;
  }
  const user = shard.catalog.userByName(body.username);
  const stored = user?.status === UserStatus.active ? user.passwordHash : undefined;
  shard.passwordChecks.check({
    password: body.password,
    stored,
    isWanted: () => !request.connection.isEnded,
    decided(verdict) {
      if (verdict === "busy") answerMetadata(shard, request, BUSY, Operation.Register);
      else if (verdict === "right" && user !== undefined) register(shard, request, body, user);
      else wrong();
    },
  });
}

/** @param unknown  called when nobody has the token, or it is no longer good */
function checkToken(
  shard: Shard,
  request: ClientRequest,
  body: LoginRegisterWithPat,
  unknown: () => void,
): void {
  const digest = shard.tokenDigest(body.token);
  const holder = shard.catalog.userByToken(digest);
  if (holder === undefined || isExpired(holder.token, shard.platform.clock.wallMicros())) unknown();
  else if (holder.user.status !== UserStatus.active) evict(shard, request, EvictionReason.UserInactive);
  else register(shard, request, body, holder.user, request.connection.endsWithToken ? digest : undefined);
}

/**
 * Says that somebody is unknown. A node that knew nobody when the login came cannot: the client tries again.
 */
function refuser(shard: Shard, request: ClientRequest): (reason: number) => void {
  const { isInformed } = shard.metadata;
  return (reason) => {
    if (isInformed) evict(shard, request, reason);
    else answerMetadata(shard, request, BUSY, Operation.Register);
  };
}

function hasGoodLengths({ username, password }: LoginRegister): boolean {
  const encoder = new TextEncoder();
  const nameLength = encoder.encode(username).length;
  const passwordLength = encoder.encode(password).length;
  return (
    nameLength >= USERNAME_LENGTH_MIN &&
    nameLength <= USERNAME_LENGTH_MAX &&
    passwordLength >= PASSWORD_LENGTH_MIN &&
    passwordLength <= PASSWORD_LENGTH_MAX
  );
}

/**
 * Agrees on a session. A user who was deleted or made inactive since his check gets none.
 * @param token  digest of the token with which the session ends, if it does
 */
function register(
  shard: Shard,
  request: ClientRequest,
  prefix: VersionPrefix,
  user: User,
  token?: string,
): void {
  const { client } = request;
  shard.metadata.submit({
    client,
    session: 0,
    request: 0n,
    operation: Operation.Register,
    user: user.id,
    body: new Uint8Array(0),
    bodyChecksum: 0n,
    answered(answer) {
      if (isRegistered(answer)) {
        bindSession(shard, request, {
          ...{ client, session: answer.op, user: user.id, token, isFenced: false },
          countsRequests: countsRequests(prefix),
        });
        const { number, remoteAddress } = request.connection;
        shard.platform.log.debug("A client is logged in.", {
          number,
          remoteAddress,
          user: user.id,
          sdk: sdkOf(prefix),
        });
      }
      const ending = isRegistered(answer) ? endingOfLogin(shard, user) : undefined;
      if (ending !== undefined) evict(shard, request, ending);
      else answerMetadata(shard, request, answer, Operation.Register);
    },
  });
}

function isRegistered(answer: MetadataAnswer): answer is Extract<MetadataAnswer, { kind: "reply" }> {
  return answer.kind === "reply" && decodeResultSection(answer.body).code === 0;
}

function sdkOf({ sdkName, sdkVersion }: VersionPrefix): string {
  return `${sdkName} ${sdkVersion}`;
}

/** The session belongs to the connection now; one that is gone meanwhile is logged out again. */
function bindSession(shard: Shard, request: ClientRequest, session: Session): void {
  const { connection } = request;
  connection.session = session;
  shard.connections.bind(connection);
  if (connection.isEnded) endSession(shard, connection);
}
