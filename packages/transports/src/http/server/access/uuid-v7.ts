/** Digits of the milliseconds at the start. */
const TIME_DIGITS = 12;

/**
 * A UUID of version 7: milliseconds since the epoch, then chance, so that later ones sort behind others.
 *
 * @param random  10 bytes
 */
export function uuidV7(milliseconds: number, random: Uint8Array): string {
  const time = milliseconds.toString(16).padStart(TIME_DIGITS, "0");
  const bytes = Uint8Array.from(random);
  bytes[0] = ((bytes[0] ?? 0) & 0x0f) | 0x70;
  bytes[2] = ((bytes[2] ?? 0) & 0x3f) | 0x80;
  const rest = Buffer.from(bytes).toString("hex");
  return `${time.slice(0, 8)}-${time.slice(8)}-${rest.slice(0, 4)}-${rest.slice(4, 8)}-${rest.slice(8, 20)}`;
}
