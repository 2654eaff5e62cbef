import { isCodedError } from "@millrace/errors";
import { isExpired, type User, UserStatus } from "@millrace/metadata";
import {
  acceptsProtocolVersion,
  decodeBody,
  decodeLoginRegister,
  decodeLoginRegisterWithPat,
  decodeVersionPrefix,
  EvictionReason,
  type LoginRegister,
  type LoginRegisterWithPat,
  PASSWORD_LENGTH_MAX,
  PASSWORD_LENGTH_MIN,
  PROTOCOL_VERSION,
  USERNAME_LENGTH_MAX,
  USERNAME_LENGTH_MIN,
  type VersionPrefix,
} from "@millrace/protocol";
import { evict } from "../evictions/evict.ts";
import type { Shard } from "../shard.ts";
import type { ClientRequest } from "./client-request.ts";
import { endingOfLogin } from "./user-sessions.ts";

/** Who somebody has proved to be. */
export interface Proof {
  readonly prefix: VersionPrefix;
  readonly user: User;
  /** What the client says of itself in its login; empty where it does not. */
  readonly context: string;
  /** Digest of the token that proved it; absent for anything else. */
  readonly token?: string;
  /** Stored form of the password that proved it; absent for anything else. */
  readonly passwordHash?: string;
}

/** Credentials to be checked; one of both is called, once, unless the request is answered by an eviction. */
export interface CredentialClaim {
  /** A body of either login; lent until the claim is decided. */
  readonly body: Uint8Array;
  proven(proof: Proof): void;
  /** Nobody can say now: too many passwords wait, or the cluster has not taken this node in yet. */
  putOff(): void;
}

/** Evicts with 15 what is no login, and with 14 a client of another line; `accepted` goes on. */
export function checkVersion(
  shard: Shard,
  request: ClientRequest,
  body: Uint8Array,
  accepted: (prefix: VersionPrefix) => void,
): void {
  const prefix = decoded(decodeVersionPrefix, body);
  if (prefix === undefined) evict(shard, request, EvictionReason.MalformedLogin);
  else if (acceptsProtocolVersion(prefix.protocolVersion, PROTOCOL_VERSION)) accepted(prefix);
  else evict(shard, request, EvictionReason.IncompatibleProtocol, { versionWindow: true });
}

/**
 * Checks a name and its password first, then a token: a body may read as either. Whoever proves nothing is
 * evicted: 15 body, 9 credentials, 10 token, 11 token of an inactive user.
 */
export function checkCredentials(shard: Shard, request: ClientRequest, claim: CredentialClaim): void {
  const byPassword = decoded(decodeLoginRegister, claim.body);
  const byToken = decoded(decodeLoginRegisterWithPat, claim.body);
  const refuse = refuser(shard, request, claim);
  const isWrong = () => refuse(EvictionReason.InvalidCredentials);
  if (byPassword !== undefined) {
    checkPassword(shard, request, { claim, body: byPassword }, () => {
      if (byToken !== undefined) checkToken(shard, request, { claim, body: byToken }, isWrong);
      else isWrong();
    });
  } else if (byToken !== undefined) {
    const isUnknown = () => refuse(EvictionReason.InvalidToken);
    checkToken(shard, request, { claim, body: byToken }, isUnknown);
  } else evict(shard, request, EvictionReason.MalformedLogin);
}

/** A claim with its body read as one of both. */
interface ReadClaim<Body> {
  readonly claim: CredentialClaim;
  readonly body: Body;
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

/**
 * Takes the same time for an unknown name, a wrong password and an inactive user. A password is right if it
 * still is when the check is done: its user may be gone by then, inactive, or have another one.
 */
function checkPassword(
  shard: Shard,
  request: ClientRequest,
  { claim, body }: ReadClaim<LoginRegister>,
  wrong: () => void,
): void {
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
      if (verdict === "busy") {
        claim.putOff();
        return;
      }
      const isRight = verdict === "right" && user !== undefined && stored !== undefined;
      const proof = isRight ? { prefix: body, context: body.context, user, passwordHash: stored } : undefined;
      if (proof !== undefined && endingOfLogin(shard, proof) === undefined) claim.proven(proof);
      else wrong();
    },
  });
}

/** @param unknown  called when nobody has the token, or it is no longer good */
function checkToken(
  shard: Shard,
  request: ClientRequest,
  { claim, body }: ReadClaim<LoginRegisterWithPat>,
  unknown: () => void,
): void {
  const digest = shard.tokenDigest(body.token);
  const holder = shard.catalog.userByToken(digest);
  if (holder === undefined || isExpired(holder.token, shard.platform.clock.wallMicros())) unknown();
  else if (holder.user.status !== UserStatus.active) evict(shard, request, EvictionReason.UserInactive);
  else claim.proven({ prefix: body, context: body.context, user: holder.user, token: digest });
}

/**
 * Says that somebody is unknown. A node that knew nobody when the login came cannot: the client tries again.
 */
function refuser(shard: Shard, request: ClientRequest, claim: CredentialClaim): (reason: number) => void {
  const { isInformed } = shard.metadata;
  return (reason) => {
    if (isInformed) evict(shard, request, reason);
    else claim.putOff();
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
