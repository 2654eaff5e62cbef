import assert from "node:assert/strict";
import { CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import { BlockPool, type KernelMemory } from "@millrace/framing";
import type { Connection, Listener } from "@millrace/platform";

const MIB = 1_048_576;

/** One transport, as the suite sees it. */
export interface TransportUnderTest {
  listen(options: ListenForTest): Promise<Listener>;
  /** A connection to the listener. */
  connect(listener: Listener): Promise<Connection>;
  /** The carrier takes whole messages only, so none is sent in pieces. Default false. */
  readonly keepsMessagesApart?: boolean;
  /** How many connections come and go in one test; a thousand unless opening one is dear. */
  readonly visitCount?: number;
}

/** What the suite asks of a listener. */
export interface ListenForTest {
  readonly leases: BlockPool;
  readonly messageLengthMax: number;
  readonly onConnection: (connection: Connection) => void;
}

/** What a test of the suite works with. */
export interface Setting {
  readonly client: Connection;
  readonly listener: Listener;
  readonly pool: BlockPool;
}

/** How a test wants its listener. */
export interface SettingOptions {
  readonly onServer?: (server: Connection) => void;
  readonly messageLengthMax?: number;
  readonly memoryLength?: number;
}

/**
 * Runs `body` with a listener and one connection to it; afterwards everything is closed and no lease is out.
 */
export async function withServer(
  transport: TransportUnderTest,
  options: SettingOptions,
  body: (setting: Setting) => Promise<void>,
): Promise<void> {
  const pool = new BlockPool(memoryOf(options.memoryLength ?? 16 * MIB), { checked: true });
  const servers = new Set<Connection>();
  const listener = await transport.listen({
    leases: pool,
    messageLengthMax: options.messageLengthMax ?? 8 * MIB,
    onConnection: (server) => {
      servers.add(server);
      options.onServer?.(server);
    },
  });
  const client = await transport.connect(listener);
  try {
    await body({ client, listener, pool });
  } finally {
    client.close();
    await quiet(1);
    for (const server of servers) server.close(closedByTest());
    await listener.close();
  }
  await until(() => pool.leasesOut === 0);
}

/** As `withServer`, with a server that sends every message back from its lease. */
export function withEcho(
  transport: TransportUnderTest,
  options: Omit<SettingOptions, "onServer">,
  body: (setting: Setting) => Promise<void>,
): Promise<void> {
  const onServer = (server: Connection) => {
    server.onMessage = (messageLease) => {
      messageLease.retain();
      server.send([messageLease.bytes], () => messageLease.release());
    };
  };
  return withServer(transport, { ...options, onServer }, body);
}

/** Memory that looks like a kernel's, without a kernel. */
export function memoryOf(length: number): KernelMemory {
  const bytes = new Uint8Array(length);
  return { bytes, view: new DataView(bytes.buffer), blocksStart: 0 };
}

/** A message whose every byte follows from its length and `mark`; the mark lies at 60. */
export function messageOf(length: number, mark: number): Uint8Array {
  const message = new Uint8Array(length);
  for (let at = 0; at < length; at += 1 + (at >> 4)) message[at] = (at * 31 + mark) & 255;
  const view = new DataView(message.buffer);
  view.setUint32(48, length, true);
  view.setUint32(60, mark, true);
  return message;
}

/** The first 256 bytes of a message that announces `length`. */
export function announcing(length: number): Uint8Array {
  const message = messageOf(256, 0);
  new DataView(message.buffer).setUint32(48, length, true);
  return message;
}

/** The reason a test gives for a close. */
export function closedByTest(): CodedError {
  return new CodedError(ErrorCode.Aborted, "The test closed the connection.");
}

/** Copies of the next `count` messages. */
export function collect(connection: Connection, count: number): Promise<Uint8Array[]> {
  const messages: Uint8Array[] = [];
  return new Promise((resolve) => {
    connection.onMessage = (messageLease) => {
      messages.push(messageLease.bytes.slice());
      if (messages.length === count) resolve(messages);
    };
  });
}

/** Sends the messages as one stream in pieces, each after the one before was written. */
export async function sendInPieces(
  connection: Connection,
  messages: Uint8Array[],
  pieceLength: number,
): Promise<void> {
  const bytes = Uint8Array.from(messages.flatMap((message) => [...message]));
  for (let at = 0; at < bytes.length; at += pieceLength) {
    const piece = bytes.subarray(at, at + pieceLength);
    await new Promise<void>((resolve) => connection.send([piece], () => resolve()));
  }
}

/**
 * Resolves with the reason when the connection is closed; a second call of `onClose` is an unhandled
 * rejection.
 */
export function closeOf(connection: Connection): Promise<CodedError | undefined> {
  let calls = 0;
  return new Promise((resolve) => {
    connection.onClose = (error) => {
      calls++;
      assert.equal(calls, 1, "onClose is called once");
      resolve(error);
    };
  });
}

/** Holds when both are the same messages in the same order. */
export function assertSame(actual: readonly Uint8Array[], expected: readonly Uint8Array[]): void {
  assert.equal(actual.length, expected.length);
  for (const [index, message] of expected.entries()) {
    assert.ok(Buffer.compare(actual[index] ?? new Uint8Array(0), message) === 0, `message ${index} differs`);
  }
}

/** True for the error of a connect that nobody answers. */
export function isConnectError(error: unknown): boolean {
  return isCodedError(error, ErrorCode.CannotEstablishConnection);
}

/** Long enough for anything on a loopback that could still happen to happen. */
export function quiet(durationMs = 40): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, durationMs));
}

/** Waits until the condition holds; fails after ten seconds. */
export async function until(condition: () => boolean): Promise<void> {
  const endMs = performance.now() + 10_000;
  while (!condition()) {
    assert.ok(performance.now() < endMs, `still not so after 10 s: ${condition}`);
    await quiet(2);
  }
}
