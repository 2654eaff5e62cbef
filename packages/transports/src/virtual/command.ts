import {
  COMMAND_OPERATIONS,
  CommandCode,
  type CommandName,
  commandByCode,
  type Plane,
} from "@millrace/protocol";

/** What of a command stands in the header of its request. */
export interface CommandFields {
  readonly operation: number;
  /** Command code, 0 where the operation says it. */
  readonly code: number;
  readonly plane: Plane;
}

const FIELDS = new Map<CommandName, CommandFields>();

/** The header fields of a command by its name. */
export function commandFields(name: CommandName): CommandFields {
  let fields = FIELDS.get(name);
  if (fields === undefined) {
    const code = CommandCode[name];
    const plane = commandByCode(code)?.plane ?? "direct";
    fields = { operation: COMMAND_OPERATIONS[name], code: plane === "direct" ? code : 0, plane };
    FIELDS.set(name, fields);
  }
  return fields;
}
