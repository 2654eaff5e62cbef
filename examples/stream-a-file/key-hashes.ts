import { createHash, type Hash } from "node:crypto";

/**
 * One running hash for each key, so that equal digests mean: same lines, in the same order within each key.
 */
export class KeyHashes {
  readonly #hashes = new Map<string, Hash>();
  /** Lines taken. */
  count = 0;
  /** Bytes of those lines. */
  bytes = 0;

  /** Takes the next line of a key. */
  add(key: string, line: string): void {
    let hash = this.#hashes.get(key);
    if (hash === undefined) {
      hash = createHash("sha256");
      this.#hashes.set(key, hash);
    }
    hash.update(line).update("\n");
    this.count += 1;
    this.bytes += Buffer.byteLength(line);
  }

  /** The digest of every key. The hashes go on afterwards. */
  digests(): Map<string, string> {
    return new Map([...this.#hashes].map(([key, hash]) => [key, hash.copy().digest("hex")]));
  }
}

/** One digest over the digests of all keys, in the order of their names. */
export function digestOfAll(digests: ReadonlyMap<string, string>): string {
  const sorted = [...digests].sort(([one], [other]) => (one < other ? -1 : 1));
  const hash = createHash("sha256");
  for (const [key, digest] of sorted) hash.update(`${key} ${digest}\n`);
  return hash.digest("hex");
}
