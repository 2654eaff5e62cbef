import { ByteReader, ByteWriter } from "@millrace/framing";
import { type Identifier, readIdentifier, readPresence, writeIdentifier } from "@millrace/protocol";

/** The new password of a user whose current one was right. */
export interface CheckedPassword {
  /** Creating op of the user whose password was checked. */
  readonly revision: number;
  readonly passwordHash: string;
}

/** ChangePassword as the log carries it. Both passwords stay with the primary, which checks them. */
export interface ChangePasswordOp {
  readonly user: Identifier;
  /** Undefined when the current password was wrong. */
  readonly checked: CheckedPassword | undefined;
}

/** Body of operation 144. Shape: identifier, right u8 and, with 1, revision u64, hash u32 length + text. */
export function encodeChangePasswordOp({ user, checked }: ChangePasswordOp): Uint8Array {
  const writer = new ByteWriter();
  writeIdentifier(writer, user);
  writer.u8(checked === undefined ? 0 : 1);
  if (checked !== undefined) writer.u64(checked.revision).str32(checked.passwordHash);
  return writer.finish();
}

/** The counterpart of `encodeChangePasswordOp`. @throws WireError */
export function decodeChangePasswordOp(bytes: Uint8Array): ChangePasswordOp {
  const reader = new ByteReader(bytes);
  const user = readIdentifier(reader);
  const checked = readPresence(reader)
    ? { revision: reader.u64Number(), passwordHash: reader.str32() }
    : undefined;
  reader.finish();
  return { user, checked };
}
