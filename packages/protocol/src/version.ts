/** A protocol version taken apart. */
export interface ProtocolVersion {
  readonly major: number;
  readonly minor: number;
  readonly patch: number;
}

const PART_BITS = 10;
const PART_MASK = (1 << PART_BITS) - 1;

/** The protocol this package speaks: 0.11.0, packed. */
export const PROTOCOL_VERSION = 11_264;

/** The release of the reference whose behaviour is kept; login and stats report it to clients. */
export const SERVER_VERSION_TEXT = "0.9.0";

/** The same as one number for stats: `major * 1 000 000 + minor * 1000 + patch`. */
export const SERVER_VERSION_NUMBER = 9000;

/** Packs a version into a u32: major, 10 bits of minor, 10 bits of patch. */
export function packVersion({ major, minor, patch }: ProtocolVersion): number {
  return ((major << (2 * PART_BITS)) | ((minor & PART_MASK) << PART_BITS) | (patch & PART_MASK)) >>> 0;
}

/** The counterpart of `packVersion`. */
export function unpackVersion(packed: number): ProtocolVersion {
  return {
    major: packed >>> (2 * PART_BITS),
    minor: (packed >>> PART_BITS) & PART_MASK,
    patch: packed & PART_MASK,
  };
}

/** The oldest version a server of version `server` accepts: the same with patch 0. */
export function oldestAcceptedVersion(server: number): number {
  return (server & ~PART_MASK) >>> 0;
}

/**
 * The gate at login: from the server's own line with patch 0 up to any patch of that line.
 *
 * @see specification, wire protocol, section 1
 */
export function acceptsProtocolVersion(client: number, server: number): boolean {
  return client >= oldestAcceptedVersion(server) && client >>> PART_BITS <= server >>> PART_BITS;
}
