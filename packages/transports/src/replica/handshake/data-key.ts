import { timingSafeEqual } from "node:crypto";
import { ByteWriter } from "@millrace/framing";
import { createBLAKE3 } from "hash-wasm";
import { MAC_LENGTH } from "./channel-keys.ts";

/** Sets the derived key apart from any other use of the same key. */
const KEY_CONTEXT = "millrace replica data key v1\0";

/** The connection for which a side shows that it has the key. */
export interface DataKeyPlace {
  readonly cluster: bigint;
  readonly dialer: number;
  readonly acceptor: number;
  /** The dialer's. */
  readonly nonce: Uint8Array;
}

/** Shows that a side encrypts its messages with a key, without telling it. */
export interface DataKey {
  /** 32 bytes that nobody without the key makes for this connection. */
  prove(place: DataKeyPlace): Uint8Array;
  /** True when the same key made the proof. */
  isProvenBy(proof: Uint8Array, place: DataKeyPlace): boolean;
}

/**
 * Loads the key with which a node encrypts its messages, for comparison with that of another node: BLAKE3,
 * keyed with the BLAKE3 of a context and the key. Takes time, so it is done once.
 */
export async function loadDataKey(key: Uint8Array): Promise<DataKey> {
  const derived = (await createBLAKE3()).update(KEY_CONTEXT).update(key).digest("binary");
  const hasher = await createBLAKE3(MAC_LENGTH * 8, derived);
  const prove = (place: DataKeyPlace) => hasher.init().update(bytesOf(place)).digest("binary").slice();
  return {
    prove,
    isProvenBy: (proof, place) => proof.length === MAC_LENGTH && timingSafeEqual(prove(place), proof),
  };
}

/** All lengths are fixed, so that no two connections give the same bytes. */
function bytesOf({ cluster, dialer, acceptor, nonce }: DataKeyPlace): Uint8Array {
  return new ByteWriter(64).u128(cluster).u8(dialer).u8(acceptor).bytes(nonce).finish();
}
