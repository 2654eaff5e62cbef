import { ByteReader, ByteWriter } from "@millrace/framing";

/** The first user, as the log carries it: the password only as a hash. */
export interface CreateRootUser {
  readonly name: string;
  readonly passwordHash: string;
}

/** Body of operation 201. Shape: name, hash u32 length + UTF-8 text. */
export function encodeCreateRootUser(root: CreateRootUser): Uint8Array {
  return new ByteWriter().name(root.name).str32(root.passwordHash).finish();
}

/**
 * The counterpart of `encodeCreateRootUser`.
 * @throws WireError
 */
export function decodeCreateRootUser(bytes: Uint8Array): CreateRootUser {
  const reader = new ByteReader(bytes);
  const root = { name: reader.name(), passwordHash: reader.str32() };
  reader.finish();
  return root;
}
