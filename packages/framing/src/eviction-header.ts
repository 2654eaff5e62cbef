import { assert } from "@millrace/errors";
import { COMMON_AT, HEADER_LENGTH, headerViewAt, WireCommand } from "./header-kind.ts";
import { setU128, u128At } from "./wide-integer.ts";

/** Places of the eviction's own fields; 152..255 is reserved. */
const AT = { client: 128, serverProtocolVersion: 144, serverProtocolVersionMin: 148, reason: 255 } as const;

/**
 * The last message of a session: 256 bytes, no body.
 *
 * The two versions are packed protocol versions and 0 except for the reason that names an incompatible
 * protocol.
 */
export interface EvictionHeader {
  readonly client: bigint;
  readonly reason: number;
  readonly serverProtocolVersion: number;
  readonly serverProtocolVersionMin: number;
}

/** Writes an eviction into the first 256 bytes of `target`, reserved bytes as zero. */
export function encodeEvictionHeader(target: Uint8Array, eviction: EvictionHeader): void {
  assert(target.byteLength >= HEADER_LENGTH, "a header's target holds 256 bytes");
  target.fill(0, 0, HEADER_LENGTH);
  const view = headerViewAt(target, 0);
  view.setUint32(COMMON_AT.length, HEADER_LENGTH, true);
  view.setUint8(COMMON_AT.command, WireCommand.eviction);
  setU128(view, AT.client, eviction.client);
  view.setUint32(AT.serverProtocolVersion, eviction.serverProtocolVersion, true);
  view.setUint32(AT.serverProtocolVersionMin, eviction.serverProtocolVersionMin, true);
  view.setUint8(AT.reason, eviction.reason);
}

/**
 * Reads the eviction at `position`. Values are not judged, reserved bytes are not looked at.
 * @throws WireError `unexpected_end` when fewer than 256 bytes are there
 */
export function decodeEvictionHeader(bytes: Uint8Array, position = 0): EvictionHeader {
  const view = headerViewAt(bytes, position);
  return {
    client: u128At(view, AT.client),
    reason: view.getUint8(AT.reason),
    serverProtocolVersion: view.getUint32(AT.serverProtocolVersion, true),
    serverProtocolVersionMin: view.getUint32(AT.serverProtocolVersionMin, true),
  };
}
