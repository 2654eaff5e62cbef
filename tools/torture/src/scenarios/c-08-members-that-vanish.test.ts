import assert from "node:assert/strict";
import type { MillraceClient } from "@millrace/client";
import { ErrorCode, isCodedError } from "@millrace/errors";
import { MemberProcess } from "../soak/member-process.ts";
import { SOAK_PARTITIONS, SOAK_PLACE } from "../soak/soak-place.ts";
import { type Scene, scenario, until } from "./scene.ts";

/** A member that is silent for 1.2 of it is taken for gone. */
const HEARTBEAT_MS = 2000;
const WINDOW_MS = HEARTBEAT_MS * 1.2;
/** What server and members may take beyond the window. */
const GRACE_MS = 5000;
const SETTINGS = { MILLRACE_HEARTBEAT_INTERVAL: `${HEARTBEAT_MS} ms` };
const hasCode = (code: number) => (error: unknown) => isCodedError(error, code);

scenario(
  "C-08: a frozen member's share is taken over in time, and thawed it comes back by itself.",
  SETTINGS,
  async (scene) => {
    await using group = await TwoMembers.open(scene);
    const [frozen] = group.members;
    frozen.freeze();
    await group.handlesAllWithin(WINDOW_MS + GRACE_MS);
    await group.hasMembers(1);
    frozen.thaw();
    await group.hasMembers(2);
    await group.handlesAllWithin(GRACE_MS);
  },
);

scenario(
  "C-08: a crashed member's share is taken over at once, and so is that of one whose sockets break.",
  SETTINGS,
  async (scene) => {
    await using group = await TwoMembers.open(scene);
    const [crashed, broken] = group.members;
    broken.destroySockets();
    await group.handlesAllWithin(GRACE_MS);
    await group.hasMembers(2);
    crashed.crash();
    await group.handlesAllWithin(GRACE_MS);
    await group.hasMembers(1);
  },
);

scenario(
  "C-08: leaving twice, a group of others, or one that is not there is an error of its own kind.",
  {},
  async (scene) => {
    const place = await scene.createTopic(1);
    const [one, other] = [await scene.connect(), await scene.connect()];
    const group = { ...place, group: "g" };
    await one.createConsumerGroup(place.stream, place.topic, "g");
    await one.joinConsumerGroup(group);
    await assert.rejects(other.leaveConsumerGroup(group), hasCode(ErrorCode.ConsumerGroupMemberNotFound));
    await one.leaveConsumerGroup(group);
    await assert.rejects(one.leaveConsumerGroup(group), hasCode(ErrorCode.ConsumerGroupMemberNotFound));
    const missing = { ...group, group: "missing" };
    await assert.rejects(one.leaveConsumerGroup(missing), hasCode(ErrorCode.ConsumerGroupIdNotFound));
    await one.joinConsumerGroup(group);
    assert.deepEqual(
      (await one.syncConsumerGroup(group))?.partitions,
      [0],
      "nothing of this harms the group",
    );
  },
);

/** Two members in processes of their own, and what they handled. */
class TwoMembers {
  readonly members: readonly [MemberProcess, MemberProcess];
  readonly #admin: MillraceClient;
  readonly #handled = new Set<string>();

  private constructor(scene: Scene, admin: MillraceClient) {
    this.#admin = admin;
    const note = (partitionId: number, offset: number) => void this.#handled.add(`${partitionId}:${offset}`);
    const member = () => new MemberProcess(scene.server.address, note);
    this.members = [member(), member()];
  }

  static async open(scene: Scene): Promise<TwoMembers> {
    const admin = await scene.connect();
    await admin.createStream(SOAK_PLACE.stream);
    await admin.createTopic(SOAK_PLACE.stream, { name: SOAK_PLACE.topic, partitionsCount: SOAK_PARTITIONS });
    await admin.createConsumerGroup(SOAK_PLACE.stream, SOAK_PLACE.topic, SOAK_PLACE.group);
    const group = new TwoMembers(scene, admin);
    await group.hasMembers(2);
    await group.handlesAllWithin(GRACE_MS);
    return group;
  }

  async hasMembers(count: number): Promise<void> {
    const isSo = async () => (await this.#admin.getConsumerGroup(SOAK_PLACE))?.membersCount === count;
    await until(`the group has ${count} members`, isSo);
  }

  /** Sends to every partition; each message is handled in time. */
  async handlesAllWithin(patienceMs: number): Promise<void> {
    const sent: string[] = [];
    for (let partition = 0; partition < SOAK_PARTITIONS; partition += 1) {
      const send = { ...SOAK_PLACE, partitioning: { partition }, messages: [{ payload: "x" }] };
      const [where] = await this.#admin.sendMessages(send);
      sent.push(`${partition}:${where?.baseOffset}`);
    }
    await until("every message is handled", () => sent.every((one) => this.#handled.has(one)), patienceMs);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const member of this.members) if (member.isAlive) member.crash();
    await Promise.all(this.members.map(({ exited }) => exited));
  }
}
