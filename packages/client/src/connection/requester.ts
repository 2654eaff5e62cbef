import type { CodedError } from "@millrace/errors";
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
  readonly body?: Uint8Array;
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
 * Sends one command by its name and resolves with what the server answered.
 *
 * @throws CodedError the server's code, InvalidCommand for a reply that does not decode, and the codes of a
 *         session
 */
export function requestCommand<T>(session: Session, request: CommandRequest<T>): Promise<T> {
  const body = request.body ?? NO_BYTES;
  return new Promise((resolve, reject) => {
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
