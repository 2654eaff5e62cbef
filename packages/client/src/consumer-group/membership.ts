import { ErrorCode, isCodedError } from "@millrace/errors";
import { type GroupAssignment, toIdentifier } from "@millrace/protocol";
import type { GroupCalls, GroupPlace } from "../admin/group-calls.ts";

/** Which membership used a group last, by its names as they were given; one map for each client. */
export type LastUsers = Map<string, Membership>;

/** How a membership behaves. */
export interface MembershipOptions {
  /** Create a group that does not exist; its name must be a text then. */
  readonly mayCreate: boolean;
  readonly lastUsers: LastUsers;
}

/** Makes and keeps a client a member of one group. */
export class Membership {
  readonly #calls: GroupCalls;
  readonly #place: GroupPlace;
  readonly #options: MembershipOptions;
  readonly #key: string;
  #isJoined = false;

  constructor(calls: GroupCalls, place: GroupPlace, options: MembershipOptions) {
    this.#calls = calls;
    this.#place = place;
    this.#options = options;
    this.#key = JSON.stringify([place.stream, place.topic, place.group].map(toIdentifier));
  }

  /** True when the same client used the group again after this one: what is left to leave is its own. */
  get isSuperseded(): boolean {
    return this.#options.lastUsers.get(this.#key) !== this;
  }

  /** What the member may read; undefined when the server knows it as no member: then it has to join. */
  async sync(): Promise<GroupAssignment | undefined> {
    const { lastUsers } = this.#options;
    // Who used the group before and has not left leaves it to this one.
    if ((lastUsers.get(this.#key) ?? this) !== this) this.#isJoined = true;
    lastUsers.set(this.#key, this);
    const assignment = await this.#calls.syncConsumerGroup(this.#place);
    // A member already: by a call of the program, or because a leave of this client never came there.
    if (assignment !== undefined) this.#isJoined = true;
    return assignment;
  }

  /**
   * Joins, and creates the group first when it may.
   *
   * @throws CodedError StreamIdNotFound, TopicIdNotFound, ConsumerGroupIdNotFound, Unauthorized
   */
  async join(): Promise<void> {
    this.#isJoined = true;
    try {
      return await this.#calls.joinConsumerGroup(this.#place);
    } catch (error) {
      const { group } = this.#place;
      const isMissing = isCodedError(error, ErrorCode.ConsumerGroupIdNotFound);
      if (!isMissing || !this.#options.mayCreate || typeof group !== "string") throw error;
      await this.#create(group);
    }
    await this.#calls.joinConsumerGroup(this.#place);
  }

  /**
   * Leaves, if it ever was a member. A membership that is over already is no error.
   *
   * @throws CodedError of the server; RequestTimeout or OutcomeUnknown when it may be a member still
   */
  async leave(): Promise<void> {
    if (!this.#isJoined) return;
    this.#isJoined = false;
    try {
      await this.#calls.leaveConsumerGroup(this.#place);
    } catch (error) {
      if (!isCodedError(error) || !OVER.has(error.code)) {
        this.#isJoined = true;
        throw error;
      }
    }
    if (!this.isSuperseded) this.#options.lastUsers.delete(this.#key);
  }

  async #create(group: string): Promise<void> {
    try {
      await this.#calls.createConsumerGroup(this.#place.stream, this.#place.topic, group);
    } catch (error) {
      // Another member was faster.
      if (!isCodedError(error, ErrorCode.ConsumerGroupNameAlreadyExists)) throw error;
    }
  }
}

/** Answers to a Leave that say: nothing to leave; or the connection is gone, whose end is a leave. */
const OVER: ReadonlySet<number> = new Set<number>([
  ErrorCode.ConsumerGroupMemberNotFound,
  ErrorCode.ConsumerGroupIdNotFound,
  ErrorCode.StreamIdNotFound,
  ErrorCode.TopicIdNotFound,
  ErrorCode.ClientShutdown,
  ErrorCode.Disconnected,
]);
