import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { CodedError, ErrorCode } from "@millrace/errors";
import { InvalidArgumentError } from "commander";

const ALGORITHM = "aes-256-gcm";
const KEY_LENGTH = 32;
const NONCE_LENGTH = 12;
const TAG_LENGTH = 16;

/**
 * A key of 32 bytes in base64.
 * @throws InvalidArgumentError for anything else; the text is not repeated
 */
export function parseEncryptionKey(text: string): Uint8Array {
  const key = Buffer.from(text, "base64");
  if (key.length === KEY_LENGTH && key.toString("base64").replace(/=+$/, "") === text.replace(/=+$/, ""))
    return key;
  throw new InvalidArgumentError("It must be 32 bytes in base64, for example from: openssl rand -base64 32");
}

/**
 * Encrypts and decrypts payloads on this side of the server: a nonce of 12 bytes, the ciphertext, a tag of
 * 16. The server sees bytes.
 */
export class PayloadCipher {
  readonly #key: Uint8Array;

  /** @param key  32 bytes, see `parseEncryptionKey` */
  constructor(key: Uint8Array) {
    this.#key = key;
  }

  encrypt(payload: Uint8Array): Uint8Array {
    const nonce = randomBytes(NONCE_LENGTH);
    const cipher = createCipheriv(ALGORITHM, this.#key, nonce);
    return Buffer.concat([nonce, cipher.update(payload), cipher.final(), cipher.getAuthTag()]);
  }

  /** @throws CodedError CannotDecryptData for another key, or bytes that were never encrypted */
  decrypt(payload: Uint8Array): Uint8Array {
    try {
      const decipher = createDecipheriv(ALGORITHM, this.#key, payload.subarray(0, NONCE_LENGTH));
      decipher.setAuthTag(payload.subarray(payload.length - TAG_LENGTH));
      const text = payload.subarray(NONCE_LENGTH, payload.length - TAG_LENGTH);
      return Buffer.concat([decipher.update(text), decipher.final()]);
    } catch (cause) {
      const message = "A payload could not be decrypted: the key is another one, or it was never encrypted.";
      throw new CodedError(ErrorCode.CannotDecryptData, message, { cause });
    }
  }
}
