import type {
  Ack,
  Message,
  NewUser,
  Partition,
  PersonalAccessToken,
  RepairPartitionReply,
  Stats,
  StreamDetails,
  TopicDetails,
  TopicRetention,
  User,
  UserDetails,
  VerifyDamage,
} from "@millrace/client";
import { CodedError, ErrorCode } from "@millrace/errors";
import { encodeTypedFields, type TypedFieldPair, typedField } from "@millrace/framing";
import type { Client, ShownMessage } from "../connection/client.ts";

const CREATED_AT = 1_789_984_800_000_001n;
const NO_OPTIONS = {};

const ROOT: UserDetails = {
  id: 0,
  username: "iggy",
  createdAt: CREATED_AT,
  status: "active",
  permissions: undefined,
};
const TOPIC_RIGHTS = { manageTopic: false, readTopic: false, pollMessages: true, sendMessages: false };
const STREAM_RIGHTS = {
  manageStream: false,
  readStream: true,
  manageTopics: false,
  readTopics: false,
  pollMessages: false,
  sendMessages: false,
};
const ANN: UserDetails = {
  id: 1,
  username: "ann",
  createdAt: CREATED_AT,
  status: "inactive",
  permissions: {
    global: {
      manageServers: false,
      readServers: true,
      manageUsers: false,
      readUsers: false,
      manageStreams: false,
      readStreams: false,
      manageTopics: false,
      readTopics: false,
      pollMessages: false,
      sendMessages: true,
    },
    streams: { 3: { ...STREAM_RIGHTS, topics: { 4: TOPIC_RIGHTS } } },
  },
};

/** The only consumer group: one member, which owns both partitions. */
const GROUP = {
  id: 0,
  name: "readers",
  partitionsCount: 2,
  membersCount: 1,
  members: [{ id: 0, partitions: [0, 1] }],
};

const NOTHING = { segmentsCount: 0, messagesCount: 0n, size: 0n };
const SEALED = { segmentsCount: 3, messagesCount: 9_007_199_254_740_993n, size: 3_145_728n };
const HOLDER = { isOwned: false, storedOffset: 5n, segmentsCount: 2, dueSegmentsCount: 1 };

/** A partition whose oldest segment has expired and is kept by a consumer and by a group. */
const RETENTION: TopicRetention = {
  isCleanerEnabled: true,
  cleanerInterval: 60_000_000n,
  partitionBudget: 0xffff_ffff_ffff_ffffn,
  isBudgetRaised: false,
  partitions: [
    {
      partitionId: 0,
      faultCode: undefined,
      firstOffset: 4n,
      sealed: SEALED,
      expired: { segmentsCount: 1, messagesCount: 4n, size: 1_048_576n },
      overSize: NOTHING,
      removable: NOTHING,
      heldBack: { segmentsCount: 1, messagesCount: 4n, size: 1_048_576n },
      holdersCount: 2,
      holders: [
        { ...HOLDER, kind: "consumer", id: 7, name: undefined },
        { ...HOLDER, kind: "group", id: 0, name: "readers", isOwned: true },
      ],
    },
  ],
};

interface Stored {
  readonly partition: ShownMessage[];
}

/** What a fake keeps of a topic besides what it shows. */
interface FakeTopic {
  details: TopicDetails;
  readonly partitions: Stored[];
}

/** A client that keeps one stream `shop` (0) with one topic `orders` (0) of two partitions in memory. */
export class FakeClient {
  readonly calls: (readonly [name: string, ...values: unknown[]])[] = [];
  readonly topic: FakeTopic = { details: topicDetails("orders", 2), partitions: [stored(), stored()] };
  storedOffset: bigint | undefined;
  /** Bytes of a snapshot. */
  snapshot = Uint8Array.of(0x50, 0x4b);
  /** What a verification finds, by partition. */
  readonly damagesOf: Record<number, { readonly damages: readonly VerifyDamage[]; readonly fault?: string }> =
    {};
  /** What repairs answer first. */
  readonly repairReplies: RepairPartitionReply[] = [];
  /** What a repair did. */
  repairReply: RepairPartitionReply = { outcome: "healthy", offsets: "proven", nextOffset: 4, damage: "" };
  /** What the server tells of retention; undefined for one that does not know the command. */
  retention: TopicRetention | undefined = RETENTION;
  closedCount = 0;
  readonly userId = 0;
  readonly tokens: PersonalAccessToken[] = [];

  /** This fake as a client; every other call is recorded and answers nothing. */
  asClient(): Client {
    return new Proxy(this as unknown as Client, {
      get: (target, name: string) => {
        const known = Reflect.get(target, name);
        if (known !== undefined || name === "then")
          return typeof known === "function" ? known.bind(this) : known;
        return async (...values: unknown[]) => {
          this.calls.push([name, ...values]);
        };
      },
    });
  }

  async close(): Promise<void> {
    this.closedCount += 1;
  }

  async getUsers(): Promise<readonly User[]> {
    return [ROOT, ANN];
  }

  async getUser(user: unknown): Promise<UserDetails | undefined> {
    return [ROOT, ANN].find(({ id, username }) => user === id || user === username);
  }

  async createUser(user: NewUser): Promise<UserDetails> {
    this.calls.push(["createUser", user]);
    return { ...ANN, username: user.username };
  }

  async createPersonalAccessToken(name: string, options: { expiry?: bigint } = {}): Promise<string> {
    this.calls.push(["createPersonalAccessToken", name, options]);
    const { expiry } = options;
    const nowMicros = BigInt(Date.now()) * 1000n;
    this.tokens.push({ name, expiresAt: expiry === undefined ? undefined : nowMicros + expiry });
    return `token-of-${name}`;
  }

  async getPersonalAccessTokens(): Promise<readonly PersonalAccessToken[]> {
    return this.tokens;
  }

  async deletePersonalAccessToken(name: string): Promise<void> {
    this.calls.push(["deletePersonalAccessToken", name]);
    const index = this.tokens.findIndex((token) => token.name === name);
    if (index < 0) throw new CodedError(ErrorCode.ResourceNotFound, `There is no token "${name}".`);
    this.tokens.splice(index, 1);
  }

  async createStream(name: string): Promise<StreamDetails> {
    this.calls.push(["createStream", name]);
    if (name === "shop") throw new CodedError(ErrorCode.StreamNameAlreadyExists, 'There is a stream "shop".');
    return { ...this.#stream(), id: 1, name, topics: [], topicsCount: 0 };
  }

  async getStream(stream: unknown): Promise<StreamDetails | undefined> {
    return stream === "shop" || stream === 0 ? this.#stream() : undefined;
  }

  async getStreams() {
    return [this.#stream()];
  }

  async createTopic(
    stream: unknown,
    topic: { name: string; partitionsCount?: number },
  ): Promise<TopicDetails> {
    this.calls.push(["createTopic", stream, topic]);
    return topicDetails(topic.name, topic.partitionsCount ?? 1);
  }

  async getTopic(stream: unknown, topic: unknown): Promise<TopicDetails | undefined> {
    const isThere = (stream === "shop" || stream === 0) && (topic === "orders" || topic === 0);
    return isThere ? this.topic.details : undefined;
  }

  async getTopicRetention(): Promise<TopicRetention> {
    if (this.retention === undefined) throw new CodedError(ErrorCode.InvalidCommand);
    return this.retention;
  }

  async getTopics(stream: unknown) {
    return stream === "shop" || stream === 0 ? [this.topic.details] : [];
  }

  async getStats(): Promise<Stats> {
    return STATS;
  }

  async getMe() {
    return CLIENT_DETAILS;
  }

  async getClient(clientId: number) {
    return clientId === CLIENT_DETAILS.clientId ? CLIENT_DETAILS : undefined;
  }

  async getClients() {
    return [CLIENT_DETAILS, { ...CLIENT_DETAILS, clientId: 8, userId: undefined, groupsCount: 0 }];
  }

  async getClusterMetadata() {
    const ports = { tcpPort: 8090, quicPort: 0, httpPort: 0, websocketPort: 0 };
    const node = { name: "iggy-node", ip: "127.0.0.1", ...ports, role: "leader", status: "healthy" } as const;
    return { name: "single-node", nodes: [node] };
  }

  async getClusterGroups() {
    const metadata = { status: "normal", view: 0, op: 9, commit: 9 } as const;
    return { nodes: [{ replica: 0, metadata }], partitions: [], next: undefined };
  }

  async describeOptions(scope: string) {
    if (scope !== "topic") return [];
    const description = "Bytes of a segment";
    return [{ key: "segment_size", kind: "uint64", defaultValue: 1_073_741_824n, description }] as const;
  }

  async createConsumerGroup(_stream: unknown, _topic: unknown, name: string) {
    this.calls.push(["createConsumerGroup", name]);
    return { ...GROUP, name, members: [], membersCount: 0 };
  }

  async getConsumerGroup({ group }: { group: unknown }) {
    return group === "readers" || group === 0 ? GROUP : undefined;
  }

  async getConsumerGroups() {
    return [GROUP];
  }

  async getConsumerOffset() {
    const { storedOffset } = this;
    return storedOffset === undefined ? undefined : { partitionId: 0, currentOffset: 9n, storedOffset };
  }

  async storeConsumerOffset(place: { offset: bigint }): Promise<void> {
    this.calls.push(["storeConsumerOffset", place]);
    this.storedOffset = place.offset;
  }

  async pollMessages(poll: { partitionId?: number; count?: number; startAt?: unknown }) {
    this.calls.push(["pollMessages", poll]);
    const all = this.topic.partitions[poll.partitionId ?? 0]?.partition ?? [];
    const count = poll.count ?? 100;
    const from = poll.startAt as { offset?: bigint } | string;
    const messages =
      from === "last" ? all.slice(-count) : all.slice(Number(offsetOf(from)), Number(offsetOf(from)) + count);
    return {
      partitionId: poll.partitionId ?? 0,
      currentOffset: BigInt(Math.max(0, all.length - 1)),
      messages,
    };
  }

  /** A group of one member that reads partition 0 from the first message on and never ends by itself. */
  consumerGroup(options: unknown) {
    this.calls.push(["consumerGroup", options]);
    const all = this.topic.partitions[0]?.partition ?? [];
    let index = 0;
    let end = () => {};
    const closed = new Promise<void>((resolve) => {
      end = resolve;
    });
    const next = async (): Promise<IteratorResult<ShownMessage, undefined>> => {
      const value = all[index];
      index += 1;
      if (value !== undefined) return { done: false, value };
      await closed;
      return { done: true, value: undefined };
    };
    const close = async () => {
      this.calls.push(["closeGroup"]);
      end();
    };
    return {
      [Symbol.asyncIterator]: () => ({ next }),
      commit: async (message?: ShownMessage) => {
        this.calls.push(["commit", message?.offset]);
      },
      close,
    };
  }

  async getSnapshot(snapshot: unknown): Promise<Uint8Array> {
    this.calls.push(["getSnapshot", snapshot]);
    return this.snapshot;
  }

  async verifyPartition(step: { readonly partitionId?: number; readonly from?: unknown }) {
    this.calls.push(["verifyPartition", step.partitionId, step.from]);
    const { damages = [], fault = "" } = this.damagesOf[step.partitionId ?? 0] ?? {};
    const isFirst = step.from === undefined;
    const next = isFirst ? { segment: 0, opsPosition: 128, logPosition: 300 } : undefined;
    const counts = { bytes: 1000, batches: 2, messages: 4 };
    return { ...counts, fault, damages: isFirst ? damages : [], next };
  }

  async repairPartition(place: { readonly offsets?: string }): Promise<RepairPartitionReply> {
    this.calls.push(["repairPartition", place]);
    return this.repairReplies.shift() ?? this.repairReply;
  }

  producer(options: unknown) {
    this.calls.push(["producer", options]);
    return {
      send: async (messages: Message | readonly Message[]): Promise<Ack> => this.#append(messages),
      close: async () => {},
    };
  }

  /** Puts messages into a partition as a server would. */
  append(partitionId: number, payloads: readonly string[]): void {
    for (const payload of payloads) this.#store(partitionId, { payload });
  }

  #append(input: Message | readonly Message[]): Ack {
    const messages = Array.isArray(input) ? (input as readonly Message[]) : [input as Message];
    const offset = BigInt(this.topic.partitions[0]?.partition.length ?? 0);
    for (const message of messages) this.#store(0, message);
    const range = { partitionId: 0, offset, count: messages.length };
    return { ...range, ranges: [range] };
  }

  #store(partitionId: number, message: Message): void {
    const list = this.topic.partitions[partitionId]?.partition ?? [];
    const { payload } = message;
    const pairs = headerPairs(message);
    list.push({
      partitionId,
      offset: BigInt(list.length),
      timestamp: CREATED_AT + BigInt(list.length),
      originTimestamp: CREATED_AT,
      id: message.id ?? (1n << 127n) + BigInt(list.length),
      checksum: 7n,
      payload: payload instanceof Uint8Array ? payload : new TextEncoder().encode(String(payload)),
      userHeaders: encodeTypedFields(pairs),
      headerFields: pairs,
    });
  }

  #stream(): StreamDetails {
    return {
      id: 0,
      name: "shop",
      createdAt: CREATED_AT,
      topicsCount: 1,
      size: 9_007_199_254_740_993n,
      messagesCount: 3n,
      options: NO_OPTIONS,
      topics: [this.topic.details],
    };
  }
}

function headerPairs({ headers }: Message): TypedFieldPair[] {
  if (!(headers instanceof Map)) return [];
  return [...headers].map(([key, value]) => {
    const keyField = typeof key === "string" ? typedField("string", key) : typedField(key.kind, key.value);
    return [keyField, typedField(value.kind, value.value)];
  });
}

function offsetOf(start: { offset?: bigint } | string): bigint {
  return typeof start === "object" ? (start.offset ?? 0n) : 0n;
}

function stored(): Stored {
  return { partition: [] };
}

function topicDetails(name: string, partitionsCount: number): TopicDetails {
  const partitions = Array.from({ length: partitionsCount }, (_, id): Partition => {
    const counts = { segmentsCount: 1, currentOffset: 0n, size: 0n, messagesCount: 0n };
    return { id, createdAt: CREATED_AT, ...counts };
  });
  return {
    id: 0,
    name,
    createdAt: CREATED_AT,
    partitionsCount,
    compression: "none",
    messageExpiry: 0xffff_ffff_ffff_ffffn,
    maxTopicSize: 0xffff_ffff_ffff_ffffn,
    size: 0n,
    messagesCount: 0n,
    options: { durability: "persisted" },
    derivedOptions: { segment_size: 1_073_741_824n, max_topic_size: 0xffff_ffff_ffff_ffffn },
    partitions,
  };
}

const CLIENT_DETAILS = {
  clientId: 7,
  userId: 0,
  transport: "tcp",
  address: "127.0.0.1:50000",
  groupsCount: 1,
  groups: [{ streamId: 0, topicId: 0, groupId: 3 }],
} as const;

const STATS: Stats = {
  processId: 42,
  cpuUsage: 1.5,
  totalCpuUsage: 3,
  memoryUsage: 1_048_576n,
  totalMemory: 9_007_199_254_740_993n,
  availableMemory: 1n,
  runTime: 90_061_000_000n,
  startTime: CREATED_AT,
  readBytes: 0n,
  writtenBytes: 0n,
  messagesSize: 0n,
  streamsCount: 1,
  topicsCount: 1,
  partitionsCount: 2,
  segmentsCount: 2,
  messagesCount: 3n,
  clientsCount: 1,
  consumerGroupsCount: 0,
  hostname: "host",
  osName: "os",
  osVersion: "1",
  kernelVersion: "2",
  serverVersion: "0.9.0",
  serverVersionNumber: 9000,
  cacheMetrics: [{ streamId: 0, topicId: 0, partitionId: 1, hits: 3n, misses: 1n, ratio: 0.75 }],
  threadsCount: 4,
  freeDiskSpace: 1n,
  totalDiskSpace: 2n,
};
