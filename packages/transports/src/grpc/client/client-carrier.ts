import { type ClientDuplexStream, type StatusObject, status } from "@grpc/grpc-js";
import { CodedError, ErrorCode } from "@millrace/errors";
import type { CarriedConnection, MessageCarrier } from "../../carried/carried-connection.ts";
import { writeAll } from "../stream-writes.ts";

/** Carries messages over one call of `Exchange` in a client. */
export class ClientCarrier implements MessageCarrier {
  readonly #call: ClientDuplexStream<Uint8Array, Uint8Array>;
  #isReading = false;

  constructor(call: ClientDuplexStream<Uint8Array, Uint8Array>, connection: CarriedConnection) {
    this.#call = call;
    call.on("status", (ended: StatusObject) => connection.closed(failureOf(ended)));
    // The owner sets the connection's callbacks first: a message may lie ready.
    setImmediate(() => {
      this.#isReading = true;
      call.on("data", (message: Uint8Array) => {
        connection.received(message);
        connection.readEnded();
      });
      if (connection.isPaused) call.pause();
    });
  }

  write(messages: readonly Uint8Array[], done: (error?: unknown) => void): void {
    writeAll(this.#call, messages, done);
  }

  pause(): void {
    if (this.#isReading) this.#call.pause();
  }

  resume(): void {
    if (this.#isReading) this.#call.resume();
  }

  end(): void {
    this.#call.end();
  }

  abort(): void {
    this.#call.cancel();
  }
}

function failureOf({ code, details }: StatusObject): CodedError | undefined {
  if (code === status.OK) return undefined;
  const text = `The connection was lost (${status[code]}: ${details}).`;
  return new CodedError(ErrorCode.Disconnected, text, { details: { status: status[code] ?? code } });
}
