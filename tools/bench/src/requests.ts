import {
  createChecksumKernel,
  encodeRequestHeader,
  HEADER_LENGTH,
  typedField,
  writeBatch,
} from "@millrace/framing";
import {
  CommandCode,
  encodeCreateStream,
  encodeCreateTopic,
  encodeDeleteStream,
  encodeLoginRegister,
  encodePollMessages,
  encodeSendMetadata,
  Operation,
  PROTOCOL_VERSION,
} from "@millrace/protocol";
import { RequestRuns } from "./request-runs.ts";

/** The client id of a benchmark's only connection. */
export const CLIENT = 0x6d69_6c6c_7261_6365n;
/** Seals the batches of all factories: each memory takes address space. */
const kernel = createChecksumKernel({ memoryLength: 64 << 20 });
const REQUEST_NUMBER_AT = 168;
const SESSION_AT = 184;
/** Bytes of a request number that a benchmark ever fills. */
const NUMBER_LENGTH = 4;

/** Prebuilt frames of one benchmark client; numbers and session are written in place. */
export class RequestFactory {
  readonly #client: bigint;
  #session = 0n;
  #number = 1n;

  constructor(client = CLIENT) {
    this.#client = client;
  }

  /** Remembers the session of a login reply. */
  adopt(loginReply: Buffer): void {
    this.#session = loginReply.readBigUInt64LE(HEADER_LENGTH + 8);
  }

  login(username: string, password: string): Buffer {
    const body = encodeLoginRegister({
      protocolVersion: PROTOCOL_VERSION,
      sdkName: "millrace-bench",
      sdkVersion: "0.1.0",
      username,
      password,
      context: "",
    });
    return this.#frame(Operation.Register, body, 0, 0n);
  }

  ping(): Buffer {
    return this.#frame(Operation.NonReplicated, new Uint8Array(0), CommandCode.Ping);
  }

  createStream(name: string): Buffer {
    return this.#frame(Operation.CreateStream, encodeCreateStream({ name, options: [] }));
  }

  deleteStream(name: string): Buffer {
    return this.#frame(Operation.DeleteStream, encodeDeleteStream({ stream: { kind: "name", name } }));
  }

  createTopic(
    stream: string,
    name: string,
    partitionsCount = 1,
    durability: "replicated" | "persisted" = "replicated",
  ): Buffer {
    const options = [{ key: "durability", value: typedField("string", durability) }];
    const body = { stream: { kind: "name", name: stream }, partitionsCount, name, options } as const;
    return this.#frame(Operation.CreateTopic, encodeCreateTopic(body));
  }

  /** A send of `count` messages of `payloadLength` bytes, sealed. */
  send(stream: string, topic: string, count: number, payloadLength: number, partitionId = 0): Buffer {
    const metadata = encodeSendMetadata({
      stream: { kind: "name", name: stream },
      topic: { kind: "name", name: topic },
      partitioning: { kind: "partition", partitionId },
      messagesCount: count,
    });
    const messages = Array.from({ length: count }, (_, at) => {
      return {
        id: BigInt(at + 1),
        payload: new Uint8Array(payloadLength).fill(at),
        originTimestamp: 1_000_000,
      };
    });
    const at = kernel.memory.blocksStart;
    const length = writeBatch(kernel.memory.bytes, at, messages, 1_000_000);
    kernel.sealBatch(at, length);
    return this.#frame(
      Operation.SendMessages,
      Buffer.concat([metadata, kernel.memory.bytes.subarray(at, at + length)]),
    );
  }

  poll(stream: string, topic: string, offset: number, count: number): Buffer {
    const body = encodePollMessages({
      consumer: { kind: "consumer", id: { kind: "numeric", id: 1 } },
      stream: { kind: "name", name: stream },
      topic: { kind: "name", name: topic },
      partitionId: 0,
      strategy: { kind: "offset", offset: BigInt(offset) },
      count,
      autoCommit: false,
    });
    return this.#frame(Operation.NonReplicated, body, CommandCode.PollMessages);
  }

  /** A poll of the newest message of partition 0, which tells where the partition ends. */
  pollLast(stream: string, topic: string): Buffer {
    const body = encodePollMessages({
      consumer: { kind: "consumer", id: { kind: "numeric", id: 1 } },
      stream: { kind: "name", name: stream },
      topic: { kind: "name", name: topic },
      partitionId: 0,
      strategy: { kind: "last" },
      count: 1,
      autoCommit: false,
    });
    return this.#frame(Operation.NonReplicated, body, CommandCode.PollMessages);
  }

  /** `copies` of one request, each of which gets a new number every time it is taken. */
  rotate(request: Buffer, copies: number): () => Buffer {
    const ring = Array.from({ length: copies }, () => Buffer.from(request));
    let at = 0;
    return () => {
      const frame = ring[at++ % copies] as Buffer;
      frame.writeBigUInt64LE(this.#number++, REQUEST_NUMBER_AT);
      return frame;
    };
  }

  /** The same side by side, for many small requests. */
  runs(request: Buffer, copies: number): RequestRuns {
    return new RequestRuns(request, copies, (bytes, position) => {
      bytes.writeUIntLE(Number(this.#number++), position + REQUEST_NUMBER_AT, NUMBER_LENGTH);
    });
  }

  #frame(operation: number, body: Uint8Array, code = 0, number = this.#number++): Buffer {
    const frame = Buffer.alloc(HEADER_LENGTH + body.length);
    const header = { length: frame.length, client: this.#client, operation, code, request: number };
    encodeRequestHeader(frame.subarray(0, HEADER_LENGTH), header);
    frame.writeBigUInt64LE(this.#session, SESSION_AT);
    frame.set(body, HEADER_LENGTH);
    return frame;
  }
}
