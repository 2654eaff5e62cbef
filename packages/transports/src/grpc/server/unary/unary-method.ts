import {
  create,
  type DescMessage,
  type DescMethodUnary,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import { CodedError, ErrorCode } from "@millrace/errors";
import { type CommandName, encodeBody } from "@millrace/protocol";
import type { CommandSession } from "../../../virtual/command-session.ts";

/** Fields of later versions are skipped, not kept: they would only take memory. */
const READ_OPTIONS = { readUnknownFields: false } as const;
const WRITE_OPTIONS = { writeUnknownFields: false } as const;

/** One unary call while it is carried out. */
export interface UnaryCall {
  /** The session behind the call's token. */
  readonly session: CommandSession;
  /** False once the caller gave up or its deadline passed. */
  readonly isWanted: () => boolean;
  /** The session is a member of a consumer group now: it holds partitions, and must not be idle for long. */
  readonly becomeMember: () => void;
}

/** One method of the service that is one command, from the bytes of its request to those of its answer. */
export interface UnaryMethod {
  /** As in the proto file. */
  readonly name: string;
  /** @throws CodedError, also InvalidCommand for bytes that are no such message */
  run(call: UnaryCall, request: Uint8Array): Promise<Uint8Array>;
}

/** A method by its description in the proto file and what it does with the messages. */
export function unaryMethod<I extends DescMessage, O extends DescMessage, C = UnaryCall>(
  { name, input, output }: DescMethodUnary<I, O>,
  handle: (call: C, request: MessageShape<I>) => Promise<MessageInitShape<O>>,
) {
  return {
    name,
    async run(call: C, request: Uint8Array): Promise<Uint8Array> {
      const answer = await handle(call, decode(input, request));
      return toBinary(output, create(output, answer), WRITE_OPTIONS);
    },
  };
}

/**
 * Carries out one command for a call; resolves with the payload of its reply.
 * @throws CodedError for values that cannot travel, and the refusals of the broker
 */
export function ask<T>(
  { session, isWanted }: UnaryCall,
  name: CommandName,
  ...[encode, value]: [] | [encode: (value: T) => Uint8Array, value: T]
): Promise<Uint8Array> {
  const body = encode === undefined ? undefined : encodeBody(encode, value as T);
  return session.ask(name, body, isWanted);
}

function decode<I extends DescMessage>(input: I, bytes: Uint8Array): MessageShape<I> {
  try {
    return fromBinary(input, bytes, READ_OPTIONS);
  } catch (cause) {
    throw new CodedError(ErrorCode.InvalidCommand, `The bytes are no ${input.name}.`, { cause });
  }
}
