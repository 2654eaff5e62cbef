import { CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import type { Client } from "../connection/client.ts";
import type { VerifyStepCall } from "./verified-partition.ts";

/** A partition of a running server. */
interface Place {
  readonly stream: number | string;
  readonly topic: number | string;
  readonly partitionId: number;
}

/** The steps of a verification that the server makes, a few MiB each. */
export function onlineSteps(client: Client, place: Place): VerifyStepCall {
  return async (from) => {
    try {
      return await client.verifyPartition({ ...place, ...(from === undefined ? {} : { from }) });
    } catch (error) {
      throw isCodedError(error, ErrorCode.InvalidCommand) ? unknownHere(error) : error;
    }
  };
}

/** Servers of others, and older ones, do not know the command. */
function unknownHere(cause: CodedError): CodedError {
  const next = "Stop the server and verify its files with: millrace topic verify --data-dir FOLDER";
  const message = "This server does not verify partitions while it runs.";
  return new CodedError(ErrorCode.FeatureUnavailable, message, { details: { next }, cause });
}
