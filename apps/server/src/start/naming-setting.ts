import { CodedError, ErrorCode, isCodedError } from "@millrace/errors";

/** A table of the configuration that says where something listens. */
export type ListenerTable = "tcp" | "websocket" | "grpc" | "http";

/**
 * Waits for a listener; when its address cannot be bound, the error names the setting that chose the address
 * and the variable that sets it.
 *
 * @throws CodedError CannotBindToSocket; any other error passes unchanged
 */
export async function namingSetting<T>(table: ListenerTable, opening: Promise<T>): Promise<T> {
  try {
    return await opening;
  } catch (error) {
    if (!isCodedError(error, ErrorCode.CannotBindToSocket)) throw error;
    const variable = `MILLRACE_${table.toUpperCase()}_ADDRESS`;
    const text = `${error.message} Set ${table}.address (${variable}) to another one; port 0 takes a free one.`;
    throw new CodedError(error.code, text, { details: error.details, cause: error });
  }
}
