import type { Permissions } from "@millrace/protocol";
import type { Catalog } from "../catalog/catalog.ts";

/**
 * Takes from every user what he may do on a stream that is deleted: the next stream under its id is another
 * one. Ours; the reference is not known to do it.
 */
export function forgetStreamRights(catalog: Catalog, streamId: number): void {
  changeRights(catalog, ({ global, streams }) => {
    if (!streams.has(streamId)) return undefined;
    return { global, streams: without(streams, streamId) };
  });
}

/** The same for a topic. Rights on its stream stay. */
export function forgetTopicRights(
  catalog: Catalog,
  { stream: streamId, topic: topicId }: { readonly stream: number; readonly topic: number },
): void {
  changeRights(catalog, ({ global, streams }) => {
    const stream = streams.get(streamId);
    if (stream === undefined || !stream.topics.has(topicId)) return undefined;
    const changed = { ...stream, topics: without(stream.topics, topicId) };
    return { global, streams: new Map(streams).set(streamId, changed) };
  });
}

/** @param change  the new permissions, or undefined to leave a user as he is */
function changeRights(catalog: Catalog, change: (before: Permissions) => Permissions | undefined): void {
  for (const user of catalog.users.list()) {
    const permissions = user.permissions && change(user.permissions);
    if (permissions !== undefined) catalog.users.replace({ ...user, permissions });
  }
}

function without<T>(map: ReadonlyMap<number, T>, id: number): ReadonlyMap<number, T> {
  const others = new Map(map);
  others.delete(id);
  return others;
}
