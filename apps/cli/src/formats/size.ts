import { InvalidArgumentError } from "commander";
import { U64_MAX } from "./whole-number.ts";

/** Bytes of each unit: decimal ones by 1000, binary ones by 1024. */
const UNIT_BYTES: Readonly<Record<string, bigint>> = {
  "": 1n,
  b: 1n,
  kb: 1_000n,
  mb: 1_000_000n,
  gb: 1_000_000_000n,
  tb: 1_000_000_000_000n,
  kib: 1n << 10n,
  mib: 1n << 20n,
  gib: 1n << 30n,
  tib: 1n << 40n,
};

/**
 * Bytes of a size such as `15GB`, `128 MiB` or `4096`.
 *
 * `unlimited` is 2^64-1; `server_default` answers undefined: the server chooses on create, nothing changes on
 * update.
 * @throws InvalidArgumentError for an unknown unit or more than 2^64-1 bytes
 */
export function parseSize(text: string): bigint | undefined {
  if (text === "server_default") return undefined;
  if (text === "unlimited") return U64_MAX;
  const [, digits, unit] = /^(\d+)\s*([A-Za-z]*)$/.exec(text) ?? [];
  const unitBytes = unit === undefined ? undefined : UNIT_BYTES[unit.toLowerCase()];
  if (digits === undefined || unitBytes === undefined) {
    throw new InvalidArgumentError("It must be a size such as 15GB, 128MiB, unlimited or server_default.");
  }
  const bytes = BigInt(digits) * unitBytes;
  if (bytes > U64_MAX) throw new InvalidArgumentError("It must be at most 18446744073709551615 bytes.");
  return bytes;
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
