import { parseByteSize } from "@millrace/protocol";
import { InvalidArgumentError } from "commander";
import { U64_MAX } from "./whole-number.ts";

/**
 * Bytes of a size such as `15GB`, `128 MiB`, `1.5 GiB` or `4096`.
 *
 * `unlimited` is 2^64-1; `server_default` answers undefined: the server chooses on create, nothing changes on
 * update.
 * @throws InvalidArgumentError for an unknown unit, a part of a byte, or more than 2^64-1 bytes
 */
export function parseSize(text: string): bigint | undefined {
  if (text === "server_default") return undefined;
  if (text === "unlimited") return U64_MAX;
  const bytes = parseByteSize(text);
  if (bytes !== undefined) return bytes;
  throw new InvalidArgumentError(
    "It must be a size such as 15GB, 128MiB, unlimited or server_default, at most 18446744073709551615 bytes.",
  );
}

/** A size limit as the tables show it. */
export function sizeLimitText(bytes: bigint): string {
  return bytes === U64_MAX ? "unlimited" : String(bytes);
}

/** Bytes rounded to a unit that people read, such as `1.5 MiB`. */
export function sizeText(bytes: number | bigint): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let value = Number(bytes);
  let index = 0;
  while (value >= 1024 && index < units.length - 1) {
    value /= 1024;
    index += 1;
  }
  return index === 0 ? `${value} B` : `${value.toFixed(2)} ${units[index]}`;
}
