import { MESSAGE_LENGTH_MAX } from "@millrace/framing";
import type { ResolvedOptions } from "../client-options.ts";
import type { ClientPlatform } from "../client-platform.ts";
import type { ServerAddress } from "../server-address.ts";
import { Link, type LinkOwner } from "./link.ts";

/** What a link is opened with. */
export interface OpenLinkOptions {
  readonly platform: ClientPlatform;
  readonly options: ResolvedOptions;
  readonly address: ServerAddress;
  /** Client id, u128. */
  readonly client: bigint;
  readonly signal: AbortSignal;
  /** Hears of the link's life, see `LinkOwner`. */
  ownerOf(link: () => Link): LinkOwner;
}

/** Opens one connection and puts a link over it; nobody is logged in yet. @throws CodedError */
export async function openLink(parts: OpenLinkOptions): Promise<Link> {
  const { transport, tls, connectTimeoutMs, noDelay } = parts.options;
  const connection = await parts.platform.connect({
    ...parts.address,
    transport,
    tls,
    timeoutMs: connectTimeoutMs,
    noDelay,
    messageLengthMax: MESSAGE_LENGTH_MAX,
    signal: parts.signal,
  });
  const link: Link = new Link(
    connection,
    parts.client,
    parts.ownerOf(() => link),
  );
  return link;
}

/** A client id that nobody else has: 128 bits of chance, never 0. */
export function randomClientId({ random }: ClientPlatform): bigint {
  let id = 0n;
  for (const byte of random.bytes(16)) id = (id << 8n) | BigInt(byte);
  return id === 0n ? 1n : id;
}
