import { createBLAKE3 } from "hash-wasm";

/** What is kept of a token: BLAKE3 of its UTF-8 text, 64 lower-case hex digits. */
export type TokenDigest = (token: string) => string;

/** Loads the hash. A token is random enough that it needs no slow one. */
export async function loadTokenDigest(): Promise<TokenDigest> {
  const blake3 = await createBLAKE3();
  return (token) => blake3.init().update(token).digest("hex");
}
