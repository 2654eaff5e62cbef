import { type JsonValue, writeJson } from "../output/json-writer.ts";
import { printable } from "../output/printable.ts";
import type { OutputMode } from "../output/render.ts";
import type { Failure } from "./failure.ts";

/**
 * Text of a failure for stderr, in the form that suits the output mode: an object in JSON, lines otherwise.
 */
export function reportText(failure: Failure, mode: OutputMode): string {
  return mode === "json" ? `${writeJson({ error: asJson(failure) })}\n` : asLines(failure);
}

function asJson(failure: Failure): JsonValue {
  return {
    message: failure.message,
    code: failure.code ?? null,
    name: failure.name ?? null,
    next: failure.next ?? null,
    causes: failure.causes,
    exit_code: failure.exitCode,
  };
}

function asLines(failure: Failure): string {
  const code = failure.code === undefined ? "" : ` (${failure.code} ${failure.name})`;
  const causes = failure.causes.filter((cause) => cause !== failure.message);
  const lines = [
    `error: ${printable(failure.message)}${code}`,
    ...causes.map((cause) => `  because: ${printable(cause)}`),
    ...(failure.next === undefined ? [] : [`  next: ${failure.next}`]),
  ];
  return `${lines.join("\n")}\n`;
}
