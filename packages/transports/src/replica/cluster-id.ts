import { createBLAKE3 } from "hash-wasm";

/** Sets ids apart from any other hash of the same name. */
const CONTEXT = "millrace cluster id v1\0";
const ID_BITS = 128;

/** The id of the cluster with this name, u128 and never 0: replicas of other names never connect. */
export async function clusterIdOf(name: string): Promise<bigint> {
  const hasher = await createBLAKE3(ID_BITS);
  const digest = hasher.update(CONTEXT).update(name).digest("binary");
  return digest.reduceRight((id, byte) => (id << 8n) | BigInt(byte), 0n) || 1n;
}
