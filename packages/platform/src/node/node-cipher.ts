import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject } from "node:crypto";
import { assert } from "@millrace/errors";
import { CIPHER_KEY_LENGTH, type Cipher, SEAL_LENGTH } from "../cipher.ts";
import type { Random } from "../clock.ts";

const NONCE_LENGTH = 24;
const PART_LENGTH = 12;
const TAG_LENGTH = 16;
const BLOCK_LENGTH = 16;
/** What doubling in the field of AES blocks folds back in, see CMAC. */
const FIELD_REMAINDER = 0x87;
/**
 * Texts sealed under one derived key. With the longest messages that is 2^38 AES blocks, far from where GCM
 * begins to leak, and deriving a key this seldom costs nothing.
 */
const TEXTS_PER_KEY = 65_536;

/**
 * XAES-256-GCM: AES-256-GCM whose key is derived from 12 bytes of the nonce, with the other 12 as its nonce.
 *
 * The first half is random and renewed after 65,536 texts and in each process, the second half counts. So a
 * pair comes twice only if 96 random bits do, and nothing has to be remembered over a restart.
 *
 * @param key     32 bytes, copied
 * @param random  where the first halves come from
 * @see C2SP XAES-256-GCM; NIST SP 800-38D section 8.2.1, SP 800-108r1 section 4.1
 */
export function createNodeCipher(key: Uint8Array, random: Pick<Random, "bytes">): Cipher {
  assert(key.length === CIPHER_KEY_LENGTH, "a cipher's key has 32 bytes");
  const derive = createDerivation(createSecretKey(key));
  const nonce = new Uint8Array(NONCE_LENGTH);
  const counter = new DataView(nonce.buffer, NONCE_LENGTH - Uint32Array.BYTES_PER_ELEMENT);
  let textsSealed = TEXTS_PER_KEY;
  const nextNonce = () => {
    if (textsSealed === TEXTS_PER_KEY) {
      nonce.set(random.bytes(PART_LENGTH));
      textsSealed = 0;
    }
    counter.setUint32(0, textsSealed, true);
    textsSealed += 1;
  };
  return {
    seal(text, associated, seal) {
      assert(seal.length === SEAL_LENGTH, "a seal has 40 bytes");
      nextNonce();
      const [derivedKey, iv] = derive(nonce);
      const cipher = createCipheriv("aes-256-gcm", derivedKey, iv).setAAD(associated);
      const sealed = cipher.update(text);
      cipher.final();
      seal.set(nonce);
      seal.set(cipher.getAuthTag(), NONCE_LENGTH);
      return sealed;
    },
    open(sealed, associated, seal) {
      assert(seal.length === SEAL_LENGTH, "a seal has 40 bytes");
      const [derivedKey, iv] = derive(seal.subarray(0, NONCE_LENGTH));
      const decipher = createDecipheriv("aes-256-gcm", derivedKey, iv, { authTagLength: TAG_LENGTH });
      decipher.setAAD(associated).setAuthTag(seal.subarray(NONCE_LENGTH));
      const text = decipher.update(sealed);
      try {
        decipher.final();
      } catch {
        // The only thing `final` checks is the tag: the bytes are not what was sealed.
        return undefined;
      }
      return text;
    },
  };
}

/** Gives for a nonce the derived key and the inner nonce; the last derived key is kept at hand. */
function createDerivation(key: KeyObject): (nonce: Uint8Array) => [key: Uint8Array, iv: Uint8Array] {
  const subkey = doubled(encryptBlocks(key, new Uint8Array(BLOCK_LENGTH)));
  const keptPart = new Uint8Array(PART_LENGTH);
  let keptKey: Uint8Array | undefined;
  return (nonce) => {
    const part = nonce.subarray(0, PART_LENGTH);
    if (keptKey === undefined || part.some((byte, index) => byte !== keptPart[index])) {
      keptKey = deriveKey(key, subkey, part);
      keptPart.set(part);
    }
    return [keptKey, nonce.subarray(PART_LENGTH)];
  };
}

/** Two CMACs of one block each: counter, label "X", a zero byte, the first half of the nonce. */
function deriveKey(key: KeyObject, subkey: Uint8Array, part: Uint8Array): Uint8Array {
  const blocks = new Uint8Array(2 * BLOCK_LENGTH);
  for (const counter of [1, 2]) {
    const block = blocks.subarray((counter - 1) * BLOCK_LENGTH, counter * BLOCK_LENGTH);
    block.set([0, counter, 0x58, 0]);
    block.set(part, BLOCK_LENGTH - PART_LENGTH);
    for (let index = 0; index < BLOCK_LENGTH; index += 1) block[index] = at(block, index) ^ at(subkey, index);
  }
  return encryptBlocks(key, blocks);
}

function encryptBlocks(key: KeyObject, blocks: Uint8Array): Uint8Array {
  return createCipheriv("aes-256-ecb", key, null).setAutoPadding(false).update(blocks);
}

/** The block times two in GF(2^128), most significant byte first. */
function doubled(block: Uint8Array): Uint8Array {
  const result = block.map((byte, index) => (byte << 1) | (at(block, index + 1) >>> 7));
  const last = BLOCK_LENGTH - 1;
  if (at(block, 0) >= 0x80) result[last] = at(result, last) ^ FIELD_REMAINDER;
  return result;
}

function at(bytes: Uint8Array, index: number): number {
  return bytes[index] ?? 0;
}
