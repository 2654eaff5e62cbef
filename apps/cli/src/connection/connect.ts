import { ClusterObserver, MillraceClient } from "@millrace/client";
import type { Client, Observer } from "./client.ts";
import type { Credentials } from "./credentials.ts";
import { encryptedClient } from "./encrypted-client.ts";
import { PayloadCipher } from "./payload-cipher.ts";
import type { ConnectionSettings } from "./server-target.ts";

/** Opens a session with the real client. Rejects with a `CodedError` that names the server. */
export async function connect({ target, credentials }: ConnectionSettings): Promise<Client> {
  const { address, client: options, encryptionKey } = target;
  const client = await MillraceClient.connect({ address, ...options, ...credentialOptions(credentials) });
  return encryptionKey === undefined ? client : encryptedClient(client, new PayloadCipher(encryptionKey));
}

/**
 * Looks at a cluster through the node, without a login. Rejects with a `CodedError` that names the server.
 */
export function observe({ target, credentials }: ConnectionSettings): Promise<Observer> {
  const { address, client: options } = target;
  return ClusterObserver.connect({ address, ...options, ...credentialOptions(credentials) });
}

function credentialOptions(credentials: Credentials) {
  if ("token" in credentials) return { token: credentials.token };
  return { username: credentials.username, password: credentials.password };
}
