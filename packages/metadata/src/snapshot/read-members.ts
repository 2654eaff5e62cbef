import { type ByteReader, WireError } from "@millrace/framing";
import type { NamedSet } from "../catalog/named-set.ts";

/**
 * Reads `count u32` and that many members into an empty set.
 * @throws WireError `bad_value` at a member whose id does not ascend or whose name is taken
 */
export function readMembers<T extends { readonly id: number; readonly name: string }>(
  reader: ByteReader,
  read: (reader: ByteReader) => T,
  members: NamedSet<T>,
): void {
  const count = reader.u32();
  let previousId = -1;
  for (let index = 0; index < count; index += 1) {
    const position = reader.position;
    const member = read(reader);
    if (member.id <= previousId || members.byName(member.name) !== undefined) {
      throw new WireError("bad_value", position);
    }
    members.add(member);
    previousId = member.id;
  }
}
