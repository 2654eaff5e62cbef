import { ErrorCode, isCodedError } from "@millrace/errors";
import { fenced } from "../partition/fence.ts";
import type { RecoverySource } from "./recovery-source.ts";

/**
 * Keeps something aside. What cannot be kept is not cut either: on a full or failing disk the partition, of
 * which everything was read, is opened for reading only, and the next start tries again. Answers nothing
 * then.
 *
 * Not for what reads the state: a partition that knows less than there is would answer wrongly.
 */
export async function keptOrFault<Result>(
  { state }: RecoverySource,
  keep: () => Promise<Result>,
): Promise<Result | undefined> {
  try {
    return await keep();
  } catch (error) {
    const isDisks = isCodedError(error, ErrorCode.DiskFull) || isCodedError(error, ErrorCode.IoError);
    if (!isDisks) throw error;
    state.fault ??= error.code === ErrorCode.DiskFull ? error : fenced(error);
    return undefined;
  }
}
