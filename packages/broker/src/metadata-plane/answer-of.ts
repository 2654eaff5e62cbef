import { ErrorCode } from "@millrace/errors";
import type { Output } from "@millrace/vsr";
import type { MetadataAnswer } from "./metadata-request.ts";

/**
 * What a client hears. A retry whose body differs from the first is refused instead of left without an
 * answer.
 */
export function answerOf(
  output: Extract<Output, { kind: "reply" | "replay" | "reject" | "evict" | "drop" }>,
): MetadataAnswer {
  switch (output.kind) {
    case "reply":
    case "replay": {
      const { op, view, commit, timestamp, operation, body } = output;
      const isRepeated = output.kind === "replay";
      return { kind: "reply", isRepeated, op, view, commit, timestamp, operation, body };
    }
    case "reject":
      return { kind: "refused", code: output.code };
    case "evict":
      return { kind: "evicted", reason: output.reason };
    case "drop":
      return { kind: "refused", code: ErrorCode.InvalidFormat };
  }
}
