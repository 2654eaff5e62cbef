import type { MethodDefinition, ServerWritableStream, ServiceDefinition } from "@grpc/grpc-js";
import { CodedError, ErrorCode, InvariantError, isCodedError } from "@millrace/errors";
import type { BlockPool, ChecksumKernel } from "@millrace/framing";
import { type Clock, type Connection, type Log, type Random, TransportKind } from "@millrace/platform";
import type { AnswerRoom } from "../../../virtual/answer-room.ts";
import { sessionParts } from "../../../virtual/session-parts.ts";
import { SERVICE_NAME } from "../../exchange-definition.ts";
import { bearerOf, checkPrivacy } from "../call-credentials.ts";
import { refuseCall } from "../refuse-call.ts";
import { careMethods } from "./care-methods.ts";
import { clientMethods } from "./client-methods.ts";
import { groupMethods } from "./group-methods.ts";
import { GRPC_FAILURES } from "./grpc-failures.ts";
import { membershipMethods } from "./membership-methods.ts";
import { messageMethods } from "./message-methods.ts";
import { offsetMethods } from "./offset-methods.ts";
import { retentionMethods } from "./retention-methods.ts";
import { streamMethods } from "./stream-methods.ts";
import { publicMethods, systemMethods } from "./system-methods.ts";
import { tokenMethods } from "./token-methods.ts";
import { topicMethods } from "./topic-methods.ts";
import type { UnaryMethod } from "./unary-method.ts";
import { UnarySessions } from "./unary-sessions.ts";
import { userMethods } from "./user-methods.ts";

/**
 * Longest request of a unary call: what gRPC takes by default. Its parts become objects, which take up to
 * 50 times its bytes; more messages at once are for `Exchange`, which makes none.
 */
const REQUEST_LENGTH_MAX = 4_194_304;

/** What unary calls need beside a listener. */
export interface UnaryOptions {
  /** The kernel of the broker, from whose memory the pool is cut. */
  readonly kernel: ChecksumKernel;
  readonly clock: Clock;
  readonly random: Random;
  /** Logged-in tokens at once; one more is answered UNAVAILABLE. */
  readonly sessionsMax: number;
}

/** What the listener adds. */
export interface UnaryServiceOptions extends UnaryOptions {
  readonly leases: BlockPool;
  readonly onConnection: (connection: Connection) => void;
  readonly log: Log;
  readonly messageLengthMax: number;
  readonly isEncrypted: boolean;
}

type Call = ServerWritableStream<Buffer, Uint8Array>;
type Serve = (call: Call) => Promise<Uint8Array>;

const asItIs = (bytes: Uint8Array): Buffer =>
  Buffer.from(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.length);

/**
 * The unary calls of `millrace.proto`.
 *
 * Each is one command of the binary protocol, carried out by the broker on a connection in memory that
 * belongs to the token of the call: there is no second implementation of any command, permission or error.
 * The bytes of a request are read only once its caller is known. For the library a method is one that
 * streams answers, of which there is one: on the wire that is the same, and here the end of the writing is
 * told.
 */
export class UnaryService {
  readonly #options: UnaryServiceOptions;
  readonly #sessions: UnarySessions;
  readonly #room: AnswerRoom;
  readonly #serves = new Map<string, Serve>();

  constructor(options: UnaryServiceOptions) {
    this.#options = options;
    const names = { transport: TransportKind.grpc, sdkName: "grpc", failures: GRPC_FAILURES };
    const { parts, space } = sessionParts({ ...options, ...names });
    this.#room = parts.answers;
    const onQuiet = () => space.release();
    this.#sessions = new UnarySessions({ parts, sessionsMax: options.sessionsMax, onQuiet });
    const catalog = [streamMethods, topicMethods, groupMethods, userMethods, tokenMethods];
    const care = [retentionMethods, careMethods];
    const methods = [systemMethods, clientMethods, ...catalog, membershipMethods, offsetMethods, ...care];
    for (const method of [...methods.flat(), ...messageMethods(options)]) {
      this.#serves.set(method.name, (call) => this.#serveKnown(method, call));
    }
    for (const { name, run } of publicMethods(this.#sessions)) {
      const ofCall = (call: Call) => ({
        remoteAddress: call.getPeer(),
        checkPrivacy: () => this.#check(call),
      });
      this.#serves.set(name, (call) => run(ofCall(call), call.request));
    }
  }

  /** The methods for the library. */
  get definition(): ServiceDefinition {
    return Object.fromEntries([...this.#serves.keys()].map((name) => [name, definitionOf(name)]));
  }

  /** What carries them out. */
  get implementation(): Record<string, (call: Call) => void> {
    return Object.fromEntries(
      [...this.#serves].map(([name, serve]) => [name, (call) => void this.#answer(call, serve)]),
    );
  }

  /** Makes no sessions any more; those that are open end with the broker. */
  close(): void {
    this.#sessions.close();
  }

  async #serveKnown(method: UnaryMethod, call: Call): Promise<Uint8Array> {
    const token = bearerOf(call.metadata);
    this.#check(call);
    const session = await this.#sessions.find(token, call.getPeer());
    const becomeMember = () => this.#sessions.becomeMember(session);
    return method.run({ session, isWanted: () => !call.cancelled, becomeMember }, call.request);
  }

  #check(call: Call): void {
    if (!this.#options.isEncrypted) checkPrivacy(call.getPeer());
  }

  async #answer(call: Call, serve: Serve): Promise<void> {
    try {
      checkRequest(call.request);
      if (!this.#room.isOpen) throw new CodedError(ErrorCode.TransientNotAccepted, "Too many answers wait.");
      this.#send(call, await serve(call));
    } catch (error) {
      refuseCall(call, this.#codedErrorOf(error));
    }
  }

  /** The answer counts until it was written, or nobody takes it. */
  #send(call: Call, answer: Uint8Array): void {
    const give = this.#room.take(answer.length);
    call.once("close", give);
    call.write(answer);
    call.end();
  }

  #codedErrorOf(error: unknown): CodedError {
    if (isCodedError(error)) return error;
    if (error instanceof InvariantError) {
      setImmediate(() => {
        throw error;
      });
    }
    const facts = { error: String(error), stack: (error as Error).stack };
    this.#options.log.error("A gRPC call failed for a reason of our own.", facts);
    return new CodedError(ErrorCode.Error, "The server made a mistake.");
  }
}

function definitionOf(name: string): MethodDefinition<Buffer, Uint8Array> {
  return {
    path: `/${SERVICE_NAME}/${name}`,
    requestStream: false,
    responseStream: true,
    requestSerialize: asItIs,
    requestDeserialize: asItIs,
    responseSerialize: asItIs,
    responseDeserialize: asItIs,
  };
}

function checkRequest({ length }: Buffer): void {
  if (length <= REQUEST_LENGTH_MAX) return;
  const text = `A request of ${length} bytes; unary calls take ${REQUEST_LENGTH_MAX}. Exchange takes longer ones.`;
  throw new CodedError(ErrorCode.FrameTooLarge, text, { details: { length, lengthMax: REQUEST_LENGTH_MAX } });
}
