/** Bytes of a cipher's key. */
export const CIPHER_KEY_LENGTH = 32;
/** Bytes beside each sealed text: what makes its encryption unlike any other, and the tag that proves it. */
export const SEAL_LENGTH = 40;

/**
 * Authenticated encryption with one key that stays inside: AES-256-GCM on Node and in the simulator.
 *
 * A text keeps its length; its seal of `SEAL_LENGTH` bytes is kept beside it. `associated` bytes are proven
 * with the text and not stored: whoever opens it must know them. No two texts are sealed with the same nonce
 * under the same derived key, also not by two processes that share the key.
 */
export interface Cipher {
  /**
   * Encrypts `text` and fills `seal`. Borrows its arguments for the call; the result is the caller's.
   */
  seal(text: Uint8Array, associated: Uint8Array, seal: Uint8Array): Uint8Array;
  /**
   * The text again, or nothing when key, text, associated bytes or seal are not those of one call of `seal`.
   */
  open(sealed: Uint8Array, associated: Uint8Array, seal: Uint8Array): Uint8Array | undefined;
}
