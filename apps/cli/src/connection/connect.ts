import { MillraceClient } from "@millrace/client";
import type { Client } from "./client.ts";
import type { Credentials } from "./credentials.ts";
import { addressText, type ConnectionSettings } from "./settings.ts";

const MICROS_PER_MS = 1_000n;

/** Opens a session with the real client. Rejects with a `CodedError` that names the server. */
export function connect(settings: ConnectionSettings): Promise<Client> {
  return MillraceClient.connect({
    address: addressText(settings.tcpServerAddress),
    ...credentialOptions(settings.credentials),
    reconnect: {
      retries: settings.tcpReconnectionMaxRetries,
      intervalMs: Number(settings.tcpReconnectionInterval / MICROS_PER_MS),
      factor: 1,
    },
  });
}

function credentialOptions(credentials: Credentials) {
  if ("token" in credentials) return { token: credentials.token };
  return { username: credentials.username, password: credentials.password };
}
