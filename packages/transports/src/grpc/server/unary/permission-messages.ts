import type { GlobalPermissions, Permissions, StreamPermissions, TopicPermissions } from "@millrace/protocol";
import type {
  GlobalPermissions as GlobalProto,
  Permissions as PermissionsProto,
  StreamPermissions as StreamProto,
} from "./millrace-proto.table.ts";

const NO_GLOBAL: GlobalPermissions = {
  manageServers: false,
  readServers: false,
  manageUsers: false,
  readUsers: false,
  manageStreams: false,
  readStreams: false,
  manageTopics: false,
  readTopics: false,
  pollMessages: false,
  sendMessages: false,
};

/** Permissions of a request, whose messages name the flags as the protocol does; undefined for none. */
export function permissionsOf(given: PermissionsProto | undefined): Permissions | undefined {
  if (given === undefined) return undefined;
  return { global: globalOf(given.global), streams: byId(given.streams, streamOf) };
}

/** The field `permissions` of an answer, left out when none were ever given. */
export function permissionsMessage(permissions: Permissions | undefined) {
  if (permissions === undefined) return {};
  const streams = byKey(permissions.streams, ({ topics, ...flags }) => ({
    ...flags,
    topics: byKey(topics, (topic) => topic),
  }));
  return { permissions: { global: permissions.global, streams } };
}

function globalOf(given: GlobalProto | undefined): GlobalPermissions {
  return given ?? NO_GLOBAL;
}

function streamOf(given: StreamProto): StreamPermissions {
  return { ...given, topics: byId(given.topics, (topic): TopicPermissions => topic) };
}

function byId<From, To>(given: { readonly [key: number]: From }, read: (value: From) => To): Map<number, To> {
  return new Map(Object.entries(given).map(([id, value]) => [Number(id), read(value)]));
}

function byKey<From, To>(map: ReadonlyMap<number, From>, write: (value: From) => To): { [key: number]: To } {
  return Object.fromEntries([...map].map(([id, value]) => [id, write(value)]));
}
