import { CodedError, ErrorCode } from "@millrace/errors";
import type { Config } from "./schema.ts";

/** 32 bytes in base64: 43 digits and one sign of padding. */
const KEY_TEXT = /^[A-Za-z0-9+/]{43}=$/;

/**
 * The key of an encrypted data directory; nothing when messages are stored as they are sent.
 *
 * @throws CodedError InvalidEncryptionKey when the key is not 32 bytes in base64; the text never shows it
 */
export function encryptionKey({ enabled, key }: Config["encryption"]): Uint8Array | undefined {
  if (!enabled) return undefined;
  const text = key.trim();
  if (KEY_TEXT.test(text)) return new Uint8Array(Buffer.from(text, "base64"));
  throw new CodedError(
    ErrorCode.InvalidEncryptionKey,
    `encryption.key ${text === "" ? "is missing" : "is wrong"}: it is 32 bytes in base64, for example what ` +
      "openssl rand -base64 32 prints.",
    { details: { key: "encryption.key" } },
  );
}
