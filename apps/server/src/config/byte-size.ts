const UNIT_LENGTH: Readonly<Record<string, number>> = {
  "": 1,
  b: 1,
  kb: 1000,
  kib: 1024,
  mb: 1000 ** 2,
  mib: 1024 ** 2,
  gb: 1000 ** 3,
  gib: 1024 ** 3,
  tb: 1000 ** 4,
  tib: 1024 ** 4,
};

const ZERO_WORDS = new Set(["none", "unlimited"]);
const SHAPE = /^(\d+(?:\.\d+)?)\s*([a-z]*)$/;

/**
 * Bytes of a text such as `64 MiB`, `15GB` or `4096`; `none` and `unlimited` are 0. Undefined when it is no
 * size.
 */
export function parseByteSize(text: string): number | undefined {
  const lower = text.trim().toLowerCase();
  if (ZERO_WORDS.has(lower)) return 0;
  const [, count, unit] = SHAPE.exec(lower) ?? [];
  const unitLength = UNIT_LENGTH[unit ?? "?"];
  if (count === undefined || unitLength === undefined) return undefined;
  const length = Math.round(Number(count) * unitLength);
  return Number.isSafeInteger(length) ? length : undefined;
}
