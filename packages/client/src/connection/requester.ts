import { CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import {
  COMMAND_OPERATIONS,
  CommandCode,
  type CommandName,
  decodeBody,
  operationByByte,
} from "@millrace/protocol";
import { type CallKind, NO_BYTES } from "./call.ts";
import type { Session } from "./session.ts";

/** One command as the admin calls ask for it; `decode` makes the result from the payload of a success. */
export interface CommandRequest<T> {
  readonly command: CommandName;
  /** Writes the body from what the caller gave; left out, there is none. */
  readonly body?: () => Uint8Array;
  readonly decode: (payload: Uint8Array) => T;
}

/** Decoder of commands that answer nothing. */
export const nothing = (): void => {};

function kindOf(command: CommandName): CallKind {
  const plane = operationByByte(COMMAND_OPERATIONS[command])?.plane;
  if (plane === "partition") return "partition";
  return plane === "metadata" || plane === "session" ? "metadata" : "read";
}

/**
 * The body of a request. What the checks of its arguments leave to the codec is an error of the caller too:
 * something else than an object, a value of another type or outside its field.
 *
 * @throws CodedError of a check; InvalidArgument with the cause for anything else
 */
function bodyOf({ command, body }: Pick<CommandRequest<unknown>, "command" | "body">): Uint8Array {
  if (body === undefined) return NO_BYTES;
  try {
    return body();
  } catch (cause) {
    if (isCodedError(cause)) throw cause;
    const why = cause instanceof Error ? cause.message : String(cause);
    const message = `What ${command} was given is of the wrong type or out of its range: ${why}.`;
    throw new CodedError(ErrorCode.InvalidArgument, message, { cause });
  }
}

/**
 * Sends one command by its name and resolves with what the server answered. Never throws at once.
 *
 * @throws CodedError InvalidArgument and the like for what cannot be sent, the server's code, InvalidCommand
 *         for a reply that does not decode, and the codes of a session; the RequestTimeout of a read that the
 *         server refused all the time has that refusal as its cause
 */
export function requestCommand<T>(session: Session, request: CommandRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const body = bodyOf(request);
    session.execute({
      kind: kindOf(request.command),
      operation: COMMAND_OPERATIONS[request.command],
      code: CommandCode[request.command],
      body: body.length === 0 ? [] : [body],
      repeatAfterLoss: true,
      done: (error: CodedError | undefined, payload) => {
        if (error !== undefined) return reject(error);
        try {
          resolve(decodeBody(request.decode, payload));
        } catch (failure) {
          reject(failure);
        }
      },
    });
  });
}
