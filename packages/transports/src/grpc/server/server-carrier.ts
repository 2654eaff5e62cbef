import { type ServerDuplexStream, status } from "@grpc/grpc-js";
import { type CodedError, errorName } from "@millrace/errors";
import type { CarriedConnection, MessageCarrier } from "../../carried/carried-connection.ts";
import { disconnected } from "../../connection-lost.ts";
import { writeAll } from "../stream-writes.ts";
import { errorMetadata, statusOf } from "./status-of.ts";

/** One call of `Exchange`, seen from the server. */
export type ExchangeCall = ServerDuplexStream<Uint8Array, Uint8Array>;

/** Carries messages over one call of `Exchange` on the server. */
export class ServerCarrier implements MessageCarrier {
  readonly #call: ExchangeCall;
  readonly #connection: CarriedConnection;

  constructor(call: ExchangeCall, connection: CarriedConnection) {
    this.#call = call;
    this.#connection = connection;
    call.on("data", (message: Uint8Array) => {
      connection.received(message);
      connection.readEnded();
    });
    // The library tells of an end in order and of most cancelled calls in the same way: first that it ended.
    let hasEnded = false;
    call.on("end", () => {
      hasEnded = true;
      connection.close();
    });
    call.on("finish", () => connection.closed());
    call.on("error", (error) => connection.closed(disconnected(error)));
    call.on("cancelled", () => connection.closed(hasEnded ? undefined : disconnected()));
  }

  write(messages: readonly Uint8Array[], done: (error?: unknown) => void): void {
    writeAll(this.#call, messages, done);
  }

  pause(): void {
    this.#call.pause();
  }

  resume(): void {
    this.#call.resume();
  }

  end(): void {
    this.#call.end();
  }

  /** The peer hears why as a status; what it sent meanwhile is dropped. */
  abort(error: CodedError): void {
    const details = `${errorName(error.code)}: ${error.message}`;
    const code = this.#call.cancelled ? status.CANCELLED : statusOf(error);
    this.#call.emit("error", { code, details, metadata: errorMetadata(error) });
    setImmediate(() => this.#connection.closed(error));
  }
}
