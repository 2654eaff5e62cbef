import { parseByteSize, parseDuration } from "@millrace/protocol";

const NO_DURATION = new Set(["0", "none", "disabled", "unlimited"]);
const NO_SIZE = new Set(["none", "unlimited"]);
const MICROS_PER_MS = 1000;

/**
 * Milliseconds of a setting such as `10 s`, `1 h 30 m`, `250ms`; `0`, `none`, `disabled` and `unlimited` are 0.
 *
 * Undefined when the text is no duration: a number without a unit is none, except 0.
 */
export function parseMilliseconds(text: string): number | undefined {
  if (NO_DURATION.has(text.trim().toLowerCase())) return 0;
  const micros = parseDuration(text);
  return micros === undefined ? undefined : Number(micros) / MICROS_PER_MS;
}

/**
 * Bytes of a setting such as `64 MiB`, `15GB` or `4096`; `none` and `unlimited` are 0.
 *
 * Undefined when the text is no size, or one that no number holds exactly.
 */
export function parseBytes(text: string): number | undefined {
  if (NO_SIZE.has(text.trim().toLowerCase())) return 0;
  const bytes = parseByteSize(text);
  return bytes === undefined || bytes > BigInt(Number.MAX_SAFE_INTEGER) ? undefined : Number(bytes);
}
