import { CodedError, ErrorCode } from "@millrace/errors";
import { ByteReader, isWireError } from "@millrace/framing";
import { StorageOperation } from "./op-header.ts";

/** Key space of a stored offset: 1 plain consumers, 2 consumer groups. */
export type ConsumerKindByte = 1 | 2;

/** An op whose effect fits into its record: no bytes in the `.log`. */
export type SmallOperation =
  | {
      readonly kind: "store-offset";
      readonly consumerKind: ConsumerKindByte;
      readonly id: number;
      readonly offset: number;
    }
  | { readonly kind: "delete-offset"; readonly consumerKind: ConsumerKindByte; readonly id: number }
  /** Sealed segments that end below `upToOffset` (exclusive) go away. */
  | { readonly kind: "truncate"; readonly upToOffset: number }
  /** The partition starts again, empty, at offset 0. */
  | { readonly kind: "purge"; readonly generation: number };

/** Bytes of the body of a small op; nothing for an operation that is none. */
export function smallOperationLength(operation: number): number | undefined {
  switch (operation) {
    case StorageOperation.storeOffset:
      return 13;
    case StorageOperation.deleteOffset:
      return 5;
    case StorageOperation.truncate:
    case StorageOperation.purge:
      return 8;
    default:
      return undefined;
  }
}

/**
 * Reads the body of a small op: store {kind u8, id u32, offset u64}, delete {kind u8, id u32}, truncate
 * {u64}, purge {u64}, little-endian and nothing behind.
 * @throws CodedError `InvalidCommand` for an unknown operation or a body that does not decode
 */
export function decodeSmallOperation(operation: number, body: Uint8Array): SmallOperation {
  try {
    const reader = new ByteReader(body);
    const decoded = readOperation(operation, reader);
    reader.finish();
    return decoded;
  } catch (error) {
    if (!isWireError(error)) throw error;
    throw new CodedError(ErrorCode.InvalidCommand, `The body of operation ${operation} does not decode.`, {
      details: { operation, position: error.position },
      cause: error,
    });
  }
}

function readOperation(operation: number, reader: ByteReader): SmallOperation {
  switch (operation) {
    case StorageOperation.storeOffset:
      return {
        kind: "store-offset",
        consumerKind: readConsumerKind(reader),
        id: reader.u32(),
        offset: reader.u64Number(),
      };
    case StorageOperation.deleteOffset:
      return { kind: "delete-offset", consumerKind: readConsumerKind(reader), id: reader.u32() };
    case StorageOperation.truncate:
      return { kind: "truncate", upToOffset: reader.u64Number() };
    case StorageOperation.purge:
      return { kind: "purge", generation: reader.u64Number() };
    default:
      throw invalid(`Operation ${operation} is not one a partition knows.`, operation);
  }
}

function readConsumerKind(reader: ByteReader): ConsumerKindByte {
  const kind = reader.u8();
  if (kind === 1 || kind === 2) return kind;
  throw invalid(`Consumer kind ${kind} is neither 1 (consumer) nor 2 (group).`, kind);
}

function invalid(message: string, value: number): CodedError {
  return new CodedError(ErrorCode.InvalidCommand, message, { details: { value } });
}
