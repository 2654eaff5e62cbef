import type { GlobalPermissions, Permissions, StreamPermissions, TopicPermissions } from "@millrace/protocol";

/** Rights on one stream, without those on single topics of it. */
export type StreamRights = Omit<StreamPermissions, "topics">;

/** What a user may do, every right spelled out. Streams and topics are keyed by their id. */
export interface UserPermissions {
  readonly global: GlobalPermissions;
  readonly streams: Readonly<
    Record<number, StreamRights & { readonly topics: Readonly<Record<number, TopicPermissions>> }>
  >;
}

/** What a user is to be allowed: what is left out is not. A right on a stream covers the topics in it. */
export interface NewPermissions {
  readonly global?: Partial<GlobalPermissions>;
  readonly streams?: Readonly<
    Record<
      number,
      Partial<StreamRights> & { readonly topics?: Readonly<Record<number, Partial<TopicPermissions>>> }
    >
  >;
}

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
const NO_STREAM: StreamRights = {
  manageStream: false,
  readStream: false,
  manageTopics: false,
  readTopics: false,
  pollMessages: false,
  sendMessages: false,
};
const NO_TOPIC: TopicPermissions = {
  manageTopic: false,
  readTopic: false,
  pollMessages: false,
  sendMessages: false,
};

/** Permissions as the protocol writes them. */
export function permissionsOf(given: NewPermissions): Permissions {
  return {
    global: { ...NO_GLOBAL, ...given.global },
    streams: mapOf(given.streams ?? {}, ({ topics = {}, ...rights }) => ({
      ...NO_STREAM,
      ...rights,
      topics: mapOf(topics, (topic) => ({ ...NO_TOPIC, ...topic })),
    })),
  };
}

/** Permissions as the client shows them. */
export function userPermissionsOf({ global, streams }: Permissions): UserPermissions {
  return {
    global,
    streams: recordOf(streams, ({ topics, ...rights }) => ({ ...rights, topics: recordOf(topics, same) })),
  };
}

const same = <T>(value: T): T => value;

function mapOf<In, Out>(record: Readonly<Record<number, In>>, change: (value: In) => Out): Map<number, Out> {
  return new Map(Object.entries(record).map(([id, value]) => [Number(id), change(value)]));
}

function recordOf<In, Out>(
  map: ReadonlyMap<number, In>,
  change: (value: In) => Out,
): Readonly<Record<number, Out>> {
  return Object.fromEntries([...map].map(([id, value]) => [id, change(value)]));
}
