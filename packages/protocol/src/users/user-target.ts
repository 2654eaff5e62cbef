import type { ByteReader, ByteWriter } from "@millrace/framing";
import { type Identifier, readIdentifier, writeIdentifier } from "../identifier.ts";

/** Body of every command that names one user and nothing else. */
export interface UserTarget {
  readonly user: Identifier;
}

/** Shape: user identifier. */
export function writeUserTarget(writer: ByteWriter, target: UserTarget): void {
  writeIdentifier(writer, target.user);
}

/** The counterpart of `writeUserTarget`. */
export function readUserTarget(reader: ByteReader): UserTarget {
  return { user: readIdentifier(reader) };
}
