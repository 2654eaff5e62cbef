import { timingSafeEqual } from "node:crypto";
import { createBLAKE3, type IHasher } from "hash-wasm";

/** Bytes of what proves a side. */
export const MAC_LENGTH = 32;

/** Sets the key apart from any other use of the same secret. */
const KEY_CONTEXT = "millrace replica channel key v1\0";

/** The secrets of a cluster; more than one while it is exchanged on one node after the other. */
export interface ChannelSecrets {
  readonly sharedSecret: string;
  /** Accepted, and used only to answer a peer that used it. */
  readonly previousSharedSecret?: string | undefined;
}

/** Proves that a side knows a shared secret, without telling it. */
export interface ChannelKeys {
  /** What proves knowledge of key `index` for this transcript: 32 bytes. */
  prove(index: number, transcript: Uint8Array): Uint8Array;
  /** Which key made the proof, current first; undefined when none did. Takes the same time for all bytes. */
  provenBy(mac: Uint8Array, transcript: Uint8Array): number | undefined;
}

/**
 * Loads the keys: BLAKE3, keyed with the BLAKE3 of a context and the secret.
 * Takes time, so it is done once, before the clock of a simulation starts.
 */
export async function loadChannelKeys(secrets: ChannelSecrets): Promise<ChannelKeys> {
  const { sharedSecret, previousSharedSecret } = secrets;
  const texts = [sharedSecret, ...(previousSharedSecret === undefined ? [] : [previousSharedSecret])];
  const hashers = await Promise.all(texts.map(keyedBy));
  const prove = (index: number, transcript: Uint8Array) => macWith(hashers[index]!, transcript);
  return {
    prove,
    provenBy(mac, transcript) {
      const matches = hashers.map((_, index) => timingSafeEqual(prove(index, transcript), mac));
      const index = matches.indexOf(true);
      return index === -1 ? undefined : index;
    },
  };
}

async function keyedBy(secret: string): Promise<IHasher> {
  const key = (await createBLAKE3()).update(KEY_CONTEXT).update(secret).digest("binary");
  return createBLAKE3(MAC_LENGTH * 8, key);
}

function macWith(hasher: IHasher, transcript: Uint8Array): Uint8Array {
  return hasher.init().update(transcript).digest("binary").slice();
}
