import type { User, UserDetails, UserPermissions } from "@millrace/client";
import { GLOBAL_WORDS, STREAM_WORDS, TOPIC_WORDS } from "../../formats/permissions.ts";
import { timestampText } from "../../formats/timestamp.ts";
import type { JsonValue } from "../../output/json-writer.ts";
import type { Field, Result } from "../../output/result.ts";

/** What is shown of a user, in the order of `user list`. */
export const USER_FIELDS: readonly Field<User>[] = [
  { name: "id", title: "ID", value: (user) => user.id },
  {
    name: "created_at",
    title: "Created",
    value: (user) => user.createdAt,
    text: (user) => timestampText(user.createdAt),
  },
  { name: "status", title: "Status", value: (user) => user.status },
  { name: "username", title: "Username", value: (user) => user.username },
];

type Words = readonly (readonly [long: string, short: string, property: string])[];

/** What a user may do: one row for each place where he has rights. */
export function permissionsResult({ id, permissions }: UserDetails): Result {
  const none = id === 0 ? "Root may do everything." : "The user may only look after his own account.";
  const rows = permissions === undefined ? [] : rowsOf(permissions);
  const titles = ["Where", "Permissions"];
  return {
    json: permissions === undefined ? null : jsonOf(permissions),
    parts: [{ kind: "rows", titles, rows, empty: none }],
  };
}

function rowsOf({ global, streams }: UserPermissions): string[][] {
  const rows = [["everywhere", given(global, GLOBAL_WORDS)]];
  for (const [streamId, { topics, ...rights }] of Object.entries(streams)) {
    rows.push([`stream ${streamId}`, given(rights, STREAM_WORDS)]);
    for (const [topicId, topicRights] of Object.entries(topics)) {
      rows.push([`stream ${streamId}, topic ${topicId}`, given(topicRights, TOPIC_WORDS)]);
    }
  }
  return rows.filter(([, rights]) => rights !== "");
}

function given(rights: object, words: Words): string {
  const set = words.filter(([, , property]) => Reflect.get(rights, property) === true);
  return set.map(([long]) => long).join(", ");
}

function jsonOf({ global, streams }: UserPermissions): JsonValue {
  return {
    global: flags(global, GLOBAL_WORDS),
    streams: Object.entries(streams).map(([streamId, { topics, ...rights }]) => ({
      stream_id: Number(streamId),
      ...flags(rights, STREAM_WORDS),
      topics: Object.entries(topics).map(([topicId, topicRights]) => ({
        topic_id: Number(topicId),
        ...flags(topicRights, TOPIC_WORDS),
      })),
    })),
  };
}

function flags(rights: object, words: Words): Readonly<Record<string, boolean>> {
  return Object.fromEntries(
    words.map(([long, , property]) => [long, Reflect.get(rights, property) === true]),
  );
}
