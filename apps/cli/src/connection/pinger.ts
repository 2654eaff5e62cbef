import { randomBytes } from "node:crypto";
import { createDefaultPlatform } from "@millrace/client";
import { CodedError, ErrorCode } from "@millrace/errors";
import { decodeReplyHeader, encodeRequestHeader, HEADER_LENGTH } from "@millrace/framing";
import type { Connection } from "@millrace/platform";
import { CommandCode, Operation } from "@millrace/protocol";
import type { Pinger } from "../world.ts";
import { parseAddress } from "./address.ts";
import type { ServerTarget } from "./server-target.ts";

/** Longer than this, opening the connection or answering a ping has failed. */
const TIMEOUT_MS = 5_000;

const WHAT_TO_CHECK = "Check that it is the port of that transport, and that TLS is on there if it is here.";

/**
 * Opens a connection that only pings. It never logs in: `ping` is the one command a server answers to
 * anybody, and the client of the SDK always has a session.
 * @throws CodedError of the transport when the server cannot be reached
 */
export async function openPinger({ address, client }: ServerTarget): Promise<Pinger> {
  const { transport = "tcp", tls } = client;
  const connection = await createDefaultPlatform().connect({
    ...parseAddress(address),
    transport,
    tls: tls === true ? {} : tls === false ? undefined : tls,
    noDelay: true,
    messageLengthMax: HEADER_LENGTH,
    timeoutMs: TIMEOUT_MS,
  });
  return new ConnectionPinger(connection, address);
}

/** One ping at a time over one connection. */
export class ConnectionPinger implements Pinger {
  readonly #connection: Connection;
  readonly #address: string;
  #settle: ((error: CodedError | undefined) => void) | undefined;
  #lost: CodedError | undefined;

  constructor(connection: Connection, address: string) {
    this.#connection = connection;
    this.#address = address;
    connection.onMessage = (messageLease) => this.#settle?.(faultOf(messageLease.bytes));
    connection.onReadEnd = () => {};
    connection.onDrain = () => {};
    connection.onClose = (error) => {
      this.#lost =
        error ?? new CodedError(ErrorCode.Disconnected, `${address} closed the connection. ${WHAT_TO_CHECK}`);
      this.#settle?.(this.#lost);
    };
  }

  /**
   * Resolves when the server has answered.
   * @throws CodedError RequestTimeout after five seconds, Disconnected when the connection is gone
   */
  async ping(): Promise<void> {
    if (this.#lost !== undefined) throw this.#lost;
    let timer: NodeJS.Timeout | undefined;
    const error = await new Promise<CodedError | undefined>((resolve) => {
      this.#settle = resolve;
      timer = setTimeout(() => resolve(noAnswer(this.#address)), TIMEOUT_MS);
      this.#connection.send([pingRequest()]);
    });
    clearTimeout(timer);
    if (error !== undefined) throw error;
  }

  async close(): Promise<void> {
    this.#connection.close();
  }
}

function pingRequest(): Uint8Array {
  const message = new Uint8Array(HEADER_LENGTH);
  // Chosen by chance and never 0, as the protocol asks of a client id.
  const client = BigInt(`0x${randomBytes(16).toString("hex")}`) | 1n;
  const { Ping: code } = CommandCode;
  encodeRequestHeader(message, { length: HEADER_LENGTH, client, operation: Operation.NonReplicated, code });
  return message;
}

function faultOf(reply: Uint8Array): CodedError | undefined {
  const { status } = decodeReplyHeader(reply);
  return status === 0 ? undefined : new CodedError(status, "The server did not accept a ping.");
}

function noAnswer(address: string): CodedError {
  return new CodedError(
    ErrorCode.RequestTimeout,
    `${address} did not answer a ping within ${TIMEOUT_MS} ms. ${WHAT_TO_CHECK}`,
  );
}
