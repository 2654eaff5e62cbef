import { randomBytes } from "node:crypto";
import { CodedError, ErrorCode } from "@millrace/errors";
import { decodeReplyHeader, encodeRequestHeader, HEADER_LENGTH, HeapLeases } from "@millrace/framing";
import { CommandCode, Operation } from "@millrace/protocol";
import { connectTcp } from "@millrace/transports/tcp/client";
import type { Pinger } from "../world.ts";
import { addressText, type ConnectionOptions } from "./settings.ts";

/** Longer than this, opening the connection or answering a ping has failed. */
const TIMEOUT_MS = 5_000;

/** A ping that waits for its answer. */
interface Waiting {
  resolve(): void;
  reject(error: CodedError): void;
}

/**
 * Opens a connection that only pings. It never logs in: `ping` is the one command a server answers to anybody, and the
 * client of the SDK always has a session.
 * @throws CodedError of the transport when the server cannot be reached
 */
export async function openPinger(options: ConnectionOptions): Promise<Pinger> {
  const address = addressText(options.tcpServerAddress);
  const connection = await connectTcp({
    ...options.tcpServerAddress,
    leases: new HeapLeases(),
    messageLengthMax: HEADER_LENGTH,
    timeoutMs: TIMEOUT_MS,
  });
  let waiting: Waiting | undefined;
  let lost: CodedError | undefined;
  const settle = (error: CodedError | undefined) => {
    const settled = waiting;
    waiting = undefined;
    if (error === undefined) settled?.resolve();
    else settled?.reject(error);
  };
  connection.onMessage = (messageLease) => settle(faultOf(messageLease.bytes));
  connection.onClose = (error) => {
    lost = error ?? new CodedError(ErrorCode.Disconnected, `The server at ${address} closed the connection.`);
    settle(lost);
  };
  return {
    ping: () =>
      new Promise((resolve, reject) => {
        if (lost !== undefined) return reject(lost);
        const timer = setTimeout(() => settle(noAnswer(address)), TIMEOUT_MS);
        waiting = {
          resolve: () => (clearTimeout(timer), resolve()),
          reject: (error) => (clearTimeout(timer), reject(error)),
        };
        connection.send([pingRequest()]);
      }),
    close: async () => connection.close(),
  };
}

function pingRequest(): Uint8Array {
  const message = new Uint8Array(HEADER_LENGTH);
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
  return new CodedError(ErrorCode.RequestTimeout, `${address} did not answer a ping within ${TIMEOUT_MS} ms.`);
}
