import type { ByteReader, ByteWriter } from "@millrace/framing";
import { decodeWith, encodeWith } from "../body-codec.ts";
import { type Identifier, readIdentifier, writeIdentifier } from "../identifier.ts";
import { type Permissions, readOptionalPermissions, writeOptionalPermissions } from "../permissions.ts";

/** Replaces all permissions of a user; undefined takes them away. The reply has no payload. */
export interface UpdatePermissions {
  readonly user: Identifier;
  readonly permissions: Permissions | undefined;
}

/** Shape: user identifier, has u8 and permissions block. */
export function encodeUpdatePermissions(body: UpdatePermissions): Uint8Array {
  return encodeWith(writeUpdatePermissions, body);
}

/** The counterpart of `encodeUpdatePermissions`; throws WireError. */
export function decodeUpdatePermissions(bytes: Uint8Array): UpdatePermissions {
  return decodeWith(readUpdatePermissions, bytes);
}

function writeUpdatePermissions(writer: ByteWriter, body: UpdatePermissions): void {
  writeIdentifier(writer, body.user);
  writeOptionalPermissions(writer, body.permissions);
}

function readUpdatePermissions(reader: ByteReader): UpdatePermissions {
  return { user: readIdentifier(reader), permissions: readOptionalPermissions(reader) };
}
