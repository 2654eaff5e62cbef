import { HEADER_LENGTH } from "@millrace/framing";
import type { Tracer } from "@millrace/platform";
import { commandByCode, commandByOperation, Operation } from "@millrace/protocol";
import type { ClientRequest } from "../sessions/client-request.ts";

/** Follows a request until it is answered, under the name of its command. */
export function followRequest(tracer: Tracer, request: ClientRequest): void {
  const { code, operation, connection, messageLease } = request;
  const command = operation === Operation.NonReplicated ? commandByCode(code) : commandByOperation(operation);
  const facts = {
    "client.address": connection.remoteAddress,
    "millrace.connection": connection.number,
    "millrace.body_length": messageLease.length - HEADER_LENGTH,
  };
  request.follow(tracer.begin(command?.name ?? "Unknown", facts));
}
