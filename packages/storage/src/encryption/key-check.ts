import { CodedError, ErrorCode } from "@millrace/errors";
import { type Cipher, type Disk, SEAL_LENGTH } from "@millrace/platform";
import type { DataFormat } from "../data-directory/data-directory.ts";

const NOTHING = new Uint8Array(0);
/** Says what the bytes are for: nothing else that is sealed opens as a key check. */
const PURPOSE = new TextEncoder().encode("mrcheck1");

/** A seal of nothing, which only its key opens: what an encrypted directory knows about its key. */
export function makeKeyCheck(cipher: Cipher): Uint8Array {
  const seal = new Uint8Array(SEAL_LENGTH);
  cipher.seal(NOTHING, PURPOSE, seal);
  return seal;
}

/**
 * Sees that a data directory is encrypted with this key, or not at all when there is none: for good, since
 * its first start.
 *
 * @throws CodedError `InvalidEncryptionKey` for another key, a missing or a superfluous one
 */
export function checkEncryption(disk: Disk, format: DataFormat, cipher: Cipher | undefined): void {
  const { keyCheck } = format;
  if (keyCheck === undefined && cipher === undefined) return;
  if (keyCheck === undefined) {
    throw refusal(
      disk,
      "is not encrypted, and what it holds cannot be encrypted afterwards. Set encryption.enabled to false, " +
        "or start with an empty directory and send the messages again",
    );
  }
  if (cipher === undefined) {
    throw refusal(disk, "is encrypted. Set encryption.enabled to true and encryption.key to its key");
  }
  if (keyCheck.length === SEAL_LENGTH && cipher.open(NOTHING, PURPOSE, keyCheck) !== undefined) return;
  throw refusal(disk, "is encrypted with another key than encryption.key");
}

function refusal(disk: Disk, why: string): CodedError {
  const text = `The data directory ${disk.root} ${why}.`;
  return new CodedError(ErrorCode.InvalidEncryptionKey, text, { details: { path: disk.root } });
}
