import {
  decodeCreateConsumerGroupReply,
  decodeGetConsumerGroupReply,
  decodeGetConsumerGroupsReply,
  decodeSyncConsumerGroupReply,
  encodeCreateConsumerGroup,
  encodeDeleteConsumerGroup,
  encodeGetConsumerGroup,
  encodeGetConsumerGroups,
  encodeJoinConsumerGroup,
  encodeLeaveConsumerGroup,
  encodeSyncConsumerGroup,
  type GroupAssignment,
  type GroupDetails,
  type GroupRecord,
  type GroupTarget,
  toIdentifier,
} from "@millrace/protocol";
import { nothing } from "../connection/requester.ts";
import { checkedName } from "./check-length.ts";
import type { Name } from "./stream-calls.ts";
import { TokenCalls } from "./token-calls.ts";

/** Names one consumer group. */
export interface GroupPlace {
  readonly stream: Name;
  readonly topic: Name;
  readonly group: Name;
}

function target(place: GroupPlace): GroupTarget {
  const { stream, topic, group } = place;
  return { stream: toIdentifier(stream), topic: toIdentifier(topic), group: toIdentifier(group) };
}

/**
 * Calls about consumer groups. Joining, syncing and leaving are what `consumerGroup()` does by itself;
 * whoever calls them polls and commits by hand.
 */
export class GroupCalls extends TokenCalls {
  /**
   * Creates a group without members. Throws StreamIdNotFound, TopicIdNotFound,
   * ConsumerGroupNameAlreadyExists.
   */
  createConsumerGroup(stream: Name, topic: Name, name: string): Promise<GroupDetails> {
    const body = () =>
      encodeCreateConsumerGroup({
        stream: toIdentifier(stream),
        topic: toIdentifier(topic),
        name: checkedName("consumer group", name),
      });
    return this.request({ command: "CreateConsumerGroup", body, decode: decodeCreateConsumerGroupReply });
  }

  /** Deletes a group, its memberships and its offsets. Throws ConsumerGroupIdNotFound. */
  deleteConsumerGroup(place: GroupPlace): Promise<void> {
    const body = () => encodeDeleteConsumerGroup(target(place));
    return this.request({ command: "DeleteConsumerGroup", body, decode: nothing });
  }

  /** A group with its members and what they own, or undefined. Throws StreamIdNotFound, TopicIdNotFound. */
  getConsumerGroup(place: GroupPlace): Promise<GroupDetails | undefined> {
    const body = () => encodeGetConsumerGroup(target(place));
    return this.request({ command: "GetConsumerGroup", body, decode: decodeGetConsumerGroupReply });
  }

  /** The groups of a topic, sorted by id. Throws StreamIdNotFound, TopicIdNotFound. */
  getConsumerGroups(stream: Name, topic: Name): Promise<readonly GroupRecord[]> {
    const body = () => encodeGetConsumerGroups({ stream: toIdentifier(stream), topic: toIdentifier(topic) });
    return this.request({ command: "GetConsumerGroups", body, decode: decodeGetConsumerGroupsReply });
  }

  /** Makes this client a member until it leaves or its connection ends. Throws ConsumerGroupIdNotFound. */
  joinConsumerGroup(place: GroupPlace): Promise<void> {
    const body = () => encodeJoinConsumerGroup(target(place));
    return this.request({ command: "JoinConsumerGroup", body, decode: nothing });
  }

  /** Ends this client's membership. Throws ConsumerGroupIdNotFound, ConsumerGroupMemberNotFound. */
  leaveConsumerGroup(place: GroupPlace): Promise<void> {
    const body = () => encodeLeaveConsumerGroup(target(place));
    return this.request({ command: "LeaveConsumerGroup", body, decode: nothing });
  }

  /** The partitions this client may poll for the group now; undefined when it is no member. */
  syncConsumerGroup(place: GroupPlace): Promise<GroupAssignment | undefined> {
    const body = () => encodeSyncConsumerGroup(target(place));
    return this.request({ command: "SyncConsumerGroup", body, decode: decodeSyncConsumerGroupReply });
  }
}
