import { COMMAND_OPERATIONS, CommandCode, type CommandName } from "./command.table.ts";
import { Operation, type Plane } from "./operation.table.ts";
import { hasResultSection, operationByByte } from "./operation.ts";

/** One command: its code, the operation byte it travels under, and how it is answered. */
export interface Command {
  readonly name: CommandName;
  readonly code: number;
  readonly operation: number;
  readonly plane: Plane;
  /** Byte that stands in the header of the normal reply; see `replyOperationOf`. */
  readonly replyOperation: number;
  /** True when the normal reply, status 0 with a body, starts with a result section. */
  readonly resultSection: boolean;
}

/** Every command, by ascending code. */
export const COMMANDS: readonly Command[] = (Object.keys(CommandCode) as CommandName[]).map(commandNamed);

const BY_CODE = new Map(COMMANDS.map((command) => [command.code, command]));
const BY_OPERATION = new Map(
  COMMANDS.filter((command) => command.operation !== Operation.NonReplicated)
    .reverse()
    .map((command) => [command.operation, command]),
);

/** The command with this code, or undefined when the code is unknown. */
export function commandByCode(code: number): Command | undefined {
  return BY_CODE.get(code);
}

/**
 * The command with this operation byte of its own.
 *
 * Undefined for NonReplicated, where the code decides, and for bytes that no client sends. Register answers
 * LoginRegister; LoginRegisterWithPat shares the byte and differs in the body only.
 */
export function commandByOperation(operation: number): Command | undefined {
  return BY_OPERATION.get(operation);
}

/** True for the two logins of older protocols (38, 44), which are answered with eviction MalformedLogin. */
export function isLegacyLogin(code: number): boolean {
  return code === CommandCode.LoginUser || code === CommandCode.LoginWithPersonalAccessToken;
}

function commandNamed(name: CommandName): Command {
  const operation = COMMAND_OPERATIONS[name];
  const replyOperation = replyOperationOf(operation);
  return {
    name,
    code: CommandCode[name],
    operation,
    plane: operationByByte(operation)?.plane ?? "direct",
    replyOperation,
    resultSection: hasResultSection(replyOperation),
  };
}

/**
 * The byte a server puts into the reply to `operation`: the same, but TruncatePartition for DeleteSegments,
 * since clients look for a result section under 68 and for none under 138.
 */
function replyOperationOf(operation: number): number {
  return operation === Operation.DeleteSegments ? Operation.TruncatePartition : operation;
}
