import type { CodedError } from "@millrace/errors";
import { errorMetadata, statusOf } from "./status-of.ts";

/** The part of a call of the library that takes an error; its own types leave `emit` open. */
interface RefusableCall {
  on(event: "error", listener: () => void): unknown;
  emit(event: "error", error: unknown): unknown;
}

/** Ends a call with the status, text and metadata of an error. */
export function refuseCall(call: RefusableCall, error: CodedError): void {
  call.on("error", () => {});
  call.emit("error", { code: statusOf(error), details: error.message, metadata: errorMetadata(error) });
}
