import { ByteReader, ByteWriter, WireError } from "@millrace/framing";
import { type Permissions, readOptionalPermissions, writeOptionalPermissions } from "@millrace/protocol";

/** CreateUser as the log carries it: the password only as a hash. */
export interface CreateUserOp {
  readonly name: string;
  readonly passwordHash: string;
  /** 1 active, 2 inactive. */
  readonly status: 1 | 2;
  readonly permissions: Permissions | undefined;
}

/** Body of operation 141. Shape: name, hash u32 length + text, status u8, has u8 and permissions block. */
export function encodeCreateUserOp(op: CreateUserOp): Uint8Array {
  const writer = new ByteWriter().name(op.name).str32(op.passwordHash).u8(op.status);
  writeOptionalPermissions(writer, op.permissions);
  return writer.finish();
}

/** The counterpart of `encodeCreateUserOp`. @throws WireError */
export function decodeCreateUserOp(bytes: Uint8Array): CreateUserOp {
  const reader = new ByteReader(bytes);
  const op = {
    name: reader.name(),
    passwordHash: reader.str32(),
    status: readUserStatus(reader),
    permissions: readOptionalPermissions(reader),
  };
  reader.finish();
  return op;
}

/** A status byte. @throws WireError `bad_value` unless 1 or 2 */
export function readUserStatus(reader: ByteReader): 1 | 2 {
  const position = reader.position;
  const status = reader.u8();
  if (status === 1 || status === 2) return status;
  throw new WireError("bad_value", position);
}
