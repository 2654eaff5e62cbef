import { InvalidArgumentError } from "commander";

/** Option keys and values are typed fields of at most 255 bytes. */
const PART_BYTES_MAX = 255;

/** One `--set KEY=VALUE`. */
export interface KeyValue {
  readonly key: string;
  readonly value: string;
}

/**
 * Adds one `KEY=VALUE` to those given before it; the text is split at its first `=`.
 * @throws InvalidArgumentError without `=`, for an empty or over-long part, and for a key given twice
 */
export function collectKeyValue(text: string, earlier: readonly KeyValue[] = []): readonly KeyValue[] {
  const at = text.indexOf("=");
  if (at < 0) throw new InvalidArgumentError("It must have the form KEY=VALUE.");
  const pair = { key: text.slice(0, at), value: text.slice(at + 1) };
  for (const part of [pair.key, pair.value]) {
    const bytes = Buffer.byteLength(part);
    if (bytes < 1 || bytes > PART_BYTES_MAX) {
      throw new InvalidArgumentError(`Key and value must have 1 to ${PART_BYTES_MAX} bytes each.`);
    }
  }
  if (earlier.some(({ key }) => key === pair.key))
    throw new InvalidArgumentError(`${pair.key} is set twice.`);
  return [...earlier, pair];
}
