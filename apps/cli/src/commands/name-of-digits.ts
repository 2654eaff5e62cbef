import { readsAsId } from "../formats/id-or-name.ts";
import type { Output } from "../output/output.ts";

/** Something that just got a name. */
export interface Named {
  /** As in "this stream". */
  readonly thing: string;
  readonly name: string;
  /** Unknown where it was renamed and named by its old name. */
  readonly id?: number | undefined;
  /** The command that shows its id. */
  readonly list: string;
}

/** Says how to address what has a name of digits only: every command takes digits for an id. */
export function remarkOnDigits(output: Output, { thing, name, id, list }: Named): void {
  if (!readsAsId(name)) return;
  const how = id === undefined ? `by its id, see: ${list}` : `by its id, ${id}`;
  output.remark(`Digits only are taken for an id: address this ${thing} ${how}. Its name will not do.`);
}
