const UNITS: Readonly<Record<string, bigint>> = {
  b: 1n,
  kb: 10n ** 3n,
  kib: 1n << 10n,
  mb: 10n ** 6n,
  mib: 1n << 20n,
  gb: 10n ** 9n,
  gib: 1n << 30n,
  tb: 10n ** 12n,
  tib: 1n << 40n,
  pb: 10n ** 15n,
  pib: 1n << 50n,
};
const U64_MAX = (1n << 64n) - 1n;
/** Digits, an optional fraction, optional space, an optional unit. Option texts are at most 255 bytes. */
const PATTERN = /^(\d+)(?:\.(\d+))?\s*([a-z]*)$/i;

/**
 * Bytes of a text such as `1048576`, `10 GiB`, `15GB`, `1.5 MiB`; undefined when it is none or exceeds u64.
 *
 * Units in any case: B, kB = 1000, KiB = 1024, up to PB and PiB. A fraction needs a unit and must come to
 * whole bytes. Computed exactly, in bigint.
 */
export function parseByteSize(text: string): bigint | undefined {
  const match = PATTERN.exec(text.trim());
  if (match === null) return undefined;
  const [, whole = "", fraction = "", unit = ""] = match;
  if (unit === "" && fraction !== "") return undefined;
  const unitBytes = unit === "" ? 1n : Object.hasOwn(UNITS, unit.toLowerCase()) && UNITS[unit.toLowerCase()];
  if (!unitBytes) return undefined;
  const scale = 10n ** BigInt(fraction.length);
  const scaled = BigInt(whole + fraction) * unitBytes;
  if (scaled % scale !== 0n) return undefined;
  const bytes = scaled / scale;
  return bytes <= U64_MAX ? bytes : undefined;
}
