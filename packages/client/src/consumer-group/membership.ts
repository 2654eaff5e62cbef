import { ErrorCode, isCodedError } from "@millrace/errors";
import type { GroupAssignment } from "@millrace/protocol";
import type { GroupCalls, GroupPlace } from "../admin/group-calls.ts";

/** Makes and keeps a client a member of one group. */
export class Membership {
  readonly #calls: GroupCalls;
  readonly #place: GroupPlace;
  readonly #mayCreate: boolean;
  #isJoined = false;

  /** @param options.mayCreate  create a group that does not exist; its name must be a text then */
  constructor(calls: GroupCalls, place: GroupPlace, options: { readonly mayCreate: boolean }) {
    this.#calls = calls;
    this.#place = place;
    this.#mayCreate = options.mayCreate;
  }

  /** What the member may read; undefined when the server knows it as no member: then it has to join. */
  sync(): Promise<GroupAssignment | undefined> {
    return this.#calls.syncConsumerGroup(this.#place);
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
      if (!isMissing || !this.#mayCreate || typeof group !== "string") throw error;
      await this.#create(group);
    }
    await this.#calls.joinConsumerGroup(this.#place);
  }

  /**
   * Leaves, if it ever joined. A membership that is over already is no error.
   *
   * @throws CodedError of the server; RequestTimeout or OutcomeUnknown when it may be a member still
   */
  async leave(): Promise<void> {
    if (!this.#isJoined) return;
    this.#isJoined = false;
    try {
      await this.#calls.leaveConsumerGroup(this.#place);
    } catch (error) {
      if (isCodedError(error) && OVER.has(error.code)) return;
      this.#isJoined = true;
      throw error;
    }
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
