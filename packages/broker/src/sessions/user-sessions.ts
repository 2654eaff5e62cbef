import { isExpired, type User, UserStatus } from "@millrace/metadata";
import { EvictionReason } from "@millrace/protocol";
import type { Shard } from "../shard.ts";
import type { Proof } from "./check-credentials.ts";
import { logoutOnBehalf } from "./logout.ts";
import type { Session } from "./session.ts";

/**
 * Ends the sessions of a user who was deleted or made inactive: the reference lets them go on, we do not.
 *
 * Requests that were begun are answered first. Sessions without a connection leave the client table.
 * Permissions and passwords end nothing: the next request is judged by what is true then.
 */
export function endSessionsOf(shard: Shard, userId: number): void {
  const reason = endingOf(shard.catalog.userById(userId));
  if (reason === undefined) return;
  const connected = new Set<bigint>();
  for (const connection of shard.connections.list()) {
    if (connection.session?.user !== userId) continue;
    connected.add(connection.session.client);
    connection.evict(reason);
  }
  for (const { client, epoch, user } of shard.metadata.clientTable.sessions()) {
    if (user === userId && !connected.has(client)) logoutOnBehalf(shard, { client, session: epoch, user });
  }
}

/** The token with which a session ends was deleted, by its name or with its user, or is expired. */
export function hasLostToken(shard: Shard, { token }: Pick<Session, "token">): boolean {
  if (token === undefined) return false;
  const holder = shard.catalog.userByToken(token);
  return holder === undefined || isExpired(holder.token, shard.platform.clock.wallMicros());
}

/** Why a login that was proven before cannot stand, if it cannot: reason of an eviction. */
export function endingOfLogin(shard: Shard, proof: Omit<Proof, "prefix">): number | undefined {
  const { user: before, token, passwordHash } = proof;
  const now = shard.catalog.userById(before.id);
  const ending = endingOf(now?.revision === before.revision ? now : undefined);
  if (ending !== undefined) return ending;
  const isOldPassword = passwordHash !== undefined && passwordHash !== now?.passwordHash;
  if (isOldPassword) return EvictionReason.InvalidCredentials;
  return hasLostToken(shard, { token }) ? EvictionReason.InvalidToken : undefined;
}

function endingOf(user: User | undefined): number | undefined {
  if (user === undefined) return EvictionReason.NoSession;
  return user.status === UserStatus.active ? undefined : EvictionReason.UserInactive;
}
