import { createBLAKE3 } from "hash-wasm";

/** What is kept of a token: BLAKE3 of its UTF-8 text, 64 lower-case hex digits. */
export type TokenDigest = (token: string) => string;

let loading: Promise<TokenDigest> | undefined;

/**
 * Loads the hash. A token is random enough that it needs no slow one.
 *
 * Only the first call of a process takes time, and real time: a simulation calls it before its clock starts.
 */
export function loadTokenDigest(): Promise<TokenDigest> {
  loading ??= createBLAKE3().then((blake3) => (token) => blake3.init().update(token).digest("hex"));
  return loading;
}
