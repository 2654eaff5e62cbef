import type { Input, Output, Prepare } from "@millrace/vsr";
import type { AppendBody } from "../node/operation.ts";

/** Whether a step is not worth a line: time that passes without anything to do. */
export function isQuiet(input: Input, outputs: readonly Output[]): boolean {
  return input.kind === "tick" && outputs.length === 0;
}

/** An input in one line. */
export function inputLine(input: Input): string {
  return line(input);
}

/** An output in one line. */
export function outputLine(output: Output): string {
  return line(output);
}

function line({ kind, ...fields }: { readonly kind: string }): string {
  const parts = Object.entries(fields as Record<string, unknown>).map(([key, value]) => part(key, value));
  return [kind, ...parts.filter((text) => text !== "")].join(" ");
}

function part(key: string, value: unknown): string {
  if (value === undefined || key === "context") return "";
  if (Array.isArray(value)) return `${key}=[${value.map((one) => part("", one)).join(" ")}]`;
  if (value instanceof Uint8Array) return `${key}=${Buffer.from(value).toString("hex")}`;
  if (typeof value !== "object" || value === null) return key === "" ? text(value) : `${key}=${text(value)}`;
  if ("parent" in value) return prepareLine(value as Prepare);
  if ("kind" in value) return line(value as { kind: string });
  const inner = Object.entries(value).map(([name, one]) => part(name, one));
  return `${key === "" ? "" : `${key}=`}{${inner.join(" ")}}`;
}

/** Checksums in base 36, so that lines stay short. */
function text(value: unknown): string {
  return typeof value === "bigint" ? value.toString(36) : String(value);
}

function prepareLine({ op, view, checksum, parent, client, request, commit, body }: Prepare): string {
  const message = (body as AppendBody | undefined)?.message;
  const chain = `op=${op} view=${view} sum=${text(checksum)} parent=${text(parent)} commit=${commit}`;
  return `{${chain} client=${client} request=${request}${message === undefined ? "" : ` message=${message}`}}`;
}
