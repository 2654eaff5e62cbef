import type { GroupAddress } from "@millrace/framing";

/** A group as log lines and tables name it. */
export function groupName(group: GroupAddress): string {
  if (group.kind === "metadata") return "metadata";
  const { streamId, topicId, partitionId, revision } = group.partition;
  return `${streamId}/${topicId}/${partitionId}-${revision}`;
}
