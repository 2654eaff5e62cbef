import { MillraceClient } from "@millrace/client";
import type { Client } from "./client.ts";
import { addressText, type ConnectionSettings } from "./settings.ts";

const MICROS_PER_MS = 1_000n;

/** Opens a session with the real client. Rejects with a `CodedError` that names the server. */
export function connect(settings: ConnectionSettings): Promise<Client> {
  return MillraceClient.connect({
    address: addressText(settings.tcpServerAddress),
    username: settings.credentials.username,
    password: settings.credentials.password,
    reconnect: {
      retries: settings.tcpReconnectionMaxRetries,
      intervalMs: Number(settings.tcpReconnectionInterval / MICROS_PER_MS),
      factor: 1,
    },
  });
}
