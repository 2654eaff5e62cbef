import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import { HEADER_LENGTH, type Lease } from "@millrace/framing";
import type { Connection, Listener } from "@millrace/platform";
import { SeededRandom } from "@millrace/testkit";
import {
  announcing,
  assertSame,
  closedByTest,
  closeOf,
  collect,
  isConnectError,
  messageOf,
  quiet,
  sendInPieces,
  type TransportUnderTest,
  until,
  withEcho,
  withServer,
} from "./transport-setting.compliance.ts";

const MIB = 1_048_576;

export type { TransportUnderTest } from "./transport-setting.compliance.ts";

/** What every transport must do; each runs it. */
export function describeTransportCompliance(name: string, transport: TransportUnderTest): void {
  describe(`${name} as a transport`, () => {
    testMessages(transport);
    testBadLengths(transport);
    testPausing(transport);
    testPoolPressure(transport);
    testClosing(transport);
    testManyConnections(transport);
  });
}

function testMessages(transport: TransportUnderTest): void {
  test("messages of many lengths come whole, in order and unchanged", async () => {
    const random = new SeededRandom(11);
    const lengths = Array.from({ length: 200 }, () => HEADER_LENGTH + random.below(40_000));
    await withEcho(transport, {}, async ({ client }) => {
      const messages = lengths.map((length, index) => messageOf(length, index));
      const received = collect(client, messages.length);
      for (const message of messages) client.send([message]);
      assertSame(await received, messages);
    });
  });

  for (const pieceLength of transport.keepsMessagesApart ? [] : [1, 3, 51, 52, 53, 255, 257, 1000]) {
    test(`a message in pieces of ${pieceLength} bytes comes whole`, async () => {
      await withEcho(transport, {}, async ({ client }) => {
        const messages = [messageOf(256, 1), messageOf(700, 2), messageOf(256, 3)];
        const received = collect(client, messages.length);
        await sendInPieces(client, messages, pieceLength);
        assertSame(await received, messages);
      });
    });
  }

  test("many messages in one write come one by one, and the read's end is told after them", async () => {
    const events: string[] = [];
    const onServer = (server: Connection) => {
      server.onMessage = (messageLease) => events.push(`message ${messageLease.view.getUint32(60, true)}`);
      server.onReadEnd = () => events.push("end");
    };
    await withServer(transport, { onServer }, async ({ client }) => {
      client.send(Array.from({ length: 50 }, (_, index) => messageOf(256, index)));
      await until(() => events.filter((event) => event !== "end").length === 50 && events.at(-1) === "end");
      const messages = events.filter((event) => event !== "end");
      assert.deepEqual(
        messages,
        Array.from({ length: 50 }, (_, index) => `message ${index}`),
      );
    });
  });

  test("a message of exactly the limit passes, several in a row", async () => {
    const limit = 64 * MIB;
    await withEcho(transport, { messageLengthMax: limit, memoryLength: 140 * MIB }, async ({ client }) => {
      const message = messageOf(limit, 7);
      for (let round = 0; round < 2; round++) {
        const received = collect(client, 1);
        client.send([message.subarray(0, 256), message.subarray(256)]);
        assertSame(await received, [message]);
      }
    });
  });

  test("parts of one send arrive joined, and an empty send completes", async () => {
    await withEcho(transport, {}, async ({ client }) => {
      const message = messageOf(5000, 4);
      const received = collect(client, 1);
      await new Promise<void>((resolve) => client.send([], () => resolve()));
      client.send([
        new Uint8Array(0),
        message.subarray(0, 256),
        message.subarray(256, 300),
        message.subarray(300),
      ]);
      assertSame(await received, [message]);
    });
  });

  test("the callbacks of sends come in order, once each, without an error", async () => {
    await withEcho(transport, {}, async ({ client }) => {
      const written: number[] = [];
      for (let index = 0; index < 100; index++) {
        client.send([messageOf(300, index)], (error) => written.push(error === undefined ? index : -1));
      }
      await until(() => written.length === 100);
      assert.deepEqual(
        written,
        Array.from({ length: 100 }, (_, index) => index),
      );
    });
  });
}

function testBadLengths(transport: TransportUnderTest): void {
  for (const length of [0, 1, 255, 4097, 2 ** 31, 2 ** 32 - 1]) {
    test(`a message that announces ${length} bytes closes the connection without a reply`, async () => {
      const closed: (CodedError | undefined)[] = [];
      const received: Uint8Array[] = [];
      const onServer = (server: Connection) => {
        server.onMessage = (messageLease) => received.push(messageLease.bytes.slice());
        server.onClose = (error) => closed.push(error);
      };
      await withServer(transport, { onServer, messageLengthMax: 4096 }, async ({ client }) => {
        let replies = 0;
        client.onMessage = () => replies++;
        const ended = closeOf(client);
        client.send([messageOf(256, 1), announcing(length)]);
        await ended;
        await until(() => closed.length === 1);
        const code = length < HEADER_LENGTH ? ErrorCode.InvalidCommand : ErrorCode.FrameTooLarge;
        assert.ok(isCodedError(closed[0], code));
        assert.equal(received.length, 1);
        assert.equal(replies, 0);
      });
    });
  }

  test("one connection's bad length leaves the others alone", async () => {
    await withEcho(transport, { messageLengthMax: 4096 }, async ({ client, listener }) => {
      const bad = await transport.connect(listener);
      const ended = closeOf(bad);
      bad.send([announcing(0)]);
      await ended;
      const received = collect(client, 1);
      client.send([messageOf(4096, 9)]);
      assertSame(await received, [messageOf(4096, 9)]);
    });
  });
}

function testPausing(transport: TransportUnderTest): void {
  test("a paused connection hands over at most what one read holds, and all of it after as many resumes", async () => {
    let received = 0;
    let server: Connection | undefined;
    const onServer = (connection: Connection) => {
      server = connection;
      connection.onMessage = () => {
        received++;
        if (received !== 1) return;
        connection.pause();
        connection.pause();
      };
    };
    await withServer(transport, { onServer }, async ({ client }) => {
      const message = messageOf(100_000, 1);
      for (let index = 0; index < 100; index++) client.send([message]);
      await until(() => received > 0);
      await quiet();
      const whilePaused = received;
      assert.ok(whilePaused < 20, `${whilePaused} messages came while paused`);
      server?.resume();
      await quiet();
      assert.equal(received, whilePaused);
      server?.resume();
      await until(() => received === 100);
    });
  });

  test("a sender whose peer does not read is told to wait, and told when to go on", async () => {
    let server: Connection | undefined;
    const onServer = (connection: Connection) => {
      server = connection;
      connection.pause();
    };
    await withServer(transport, { onServer }, async ({ client }) => {
      let drained = 0;
      client.onDrain = () => drained++;
      const message = messageOf(1_000_000, 1);
      let sent = 0;
      while (sent < 64 && client.send([message])) sent++;
      assert.ok(sent < 64);
      await quiet();
      for (let more = 0; more < 24; more++) client.send([message]);
      await quiet();
      const drainedWhilePaused = drained;
      assert.equal(client.send([message]), false);
      server?.resume();
      await until(() => drained > drainedWhilePaused);
      assert.equal(client.send([messageOf(256, 2)]), true);
    });
  });
}

function testPoolPressure(transport: TransportUnderTest): void {
  test("without free blocks a connection waits, and goes on when leases are released", async () => {
    const held: Lease[] = [];
    let received = 0;
    const onServer = (server: Connection) => {
      server.onMessage = (messageLease) => {
        received++;
        messageLease.retain();
        held.push(messageLease);
      };
    };
    await withServer(transport, { onServer, memoryLength: 4 * MIB }, async ({ client, pool }) => {
      const message = messageOf(400_000, 3);
      for (let index = 0; index < 40; index++) client.send([message]);
      await until(() => pool.blocksFree === 0);
      await quiet();
      assert.ok(received < 12, `${received} messages fit into the pool`);
      while (received < 40 || held.length > 0) {
        held.shift()?.release();
        await quiet(1);
      }
      assert.equal(received, 40);
    });
  });

  test("two connections that wait for room both get on", async () => {
    const held: Lease[] = [];
    let received = 0;
    const onServer = (server: Connection) => {
      server.onMessage = (messageLease) => {
        received++;
        messageLease.retain();
        held.push(messageLease);
      };
    };
    await withServer(transport, { onServer, memoryLength: 6 * MIB }, async ({ client, listener }) => {
      const other = await transport.connect(listener);
      for (let index = 0; index < 20; index++) {
        client.send([messageOf(1_500_000, 1)]);
        other.send([messageOf(300, 2)]);
      }
      while (received < 40 || held.length > 0) {
        held.shift()?.release();
        await quiet(1);
      }
      const closed = closeOf(other);
      other.close();
      await closed;
    });
  });

  test("a connection that closes while it waits for room is forgotten", async () => {
    const held: Lease[] = [];
    let closed = 0;
    let waiting: Connection | undefined;
    const onServer = (server: Connection) => {
      server.onMessage = (messageLease) => {
        messageLease.retain();
        held.push(messageLease);
      };
      server.onClose = () => closed++;
      waiting = server;
    };
    await withServer(transport, { onServer, memoryLength: 4 * MIB }, async ({ client, pool }) => {
      for (let index = 0; index < 40; index++) client.send([messageOf(900_000, 3)]);
      await until(() => pool.blocksFree === 0);
      waiting?.close();
      client.close(closedByTest());
      await until(() => closed === 1);
      for (const lease of held) lease.release();
    });
  });
}

function testClosing(transport: TransportUnderTest): void {
  test("a client's close ends both sides without an error, after what was queued", async () => {
    const closed: (CodedError | undefined)[] = [];
    let received = 0;
    const onServer = (server: Connection) => {
      server.onMessage = () => received++;
      server.onClose = (error) => closed.push(error);
    };
    await withServer(transport, { onServer }, async ({ client }) => {
      const ended = closeOf(client);
      for (let index = 0; index < 30; index++) client.send([messageOf(100_000, index)]);
      client.close();
      client.close();
      assert.equal(await ended, undefined);
      await until(() => closed.length === 1);
      assert.deepEqual(closed, [undefined]);
      assert.equal(received, 30);
    });
  });

  test("a server's close sends what is queued first", async () => {
    const onServer = (server: Connection) => {
      server.onMessage = (messageLease) => {
        const reply = messageLease.bytes.slice();
        for (let index = 0; index < 20; index++) server.send([reply]);
        server.close();
      };
    };
    await withServer(transport, { onServer }, async ({ client }) => {
      const received = collect(client, 20);
      const ended = closeOf(client);
      client.send([messageOf(50_000, 1)]);
      assert.equal((await received).length, 20);
      assert.equal(await ended, undefined);
    });
  });

  test("a close with an error reports it once, fails what was not written, and hands over nothing more", async () => {
    let afterClose = 0;
    const reasons: (CodedError | undefined)[] = [];
    const written: (CodedError | undefined)[] = [];
    const onServer = (server: Connection) => {
      server.onClose = (error) => reasons.push(error);
      server.onMessage = () => {
        if (reasons.length > 0) afterClose++;
        server.send([messageOf(256, 1)], (error) => written.push(error));
        server.close(closedByTest());
        server.close(closedByTest());
        server.send([messageOf(256, 2)], (error) => written.push(error));
      };
    };
    await withServer(transport, { onServer }, async ({ client }) => {
      const ended = closeOf(client);
      client.send(Array.from({ length: 20 }, (_, index) => messageOf(256, index)));
      await ended;
      await until(() => reasons.length > 0 && written.length === 2);
      await quiet();
      assert.equal(reasons.length, 1);
      assert.ok(isCodedError(reasons[0], ErrorCode.Aborted));
      assert.ok(written.every((error) => error !== undefined));
      assert.equal(afterClose, 0);
    });
  });

  test("after the close a send fails by its callback, and nothing throws", async () => {
    await withServer(transport, {}, async ({ client }) => {
      const ended = closeOf(client);
      client.close();
      await ended;
      const error = await new Promise<CodedError | undefined>((resolve) => {
        assert.equal(client.send([messageOf(256, 1)], resolve), false);
      });
      assert.ok(isCodedError(error, ErrorCode.Disconnected));
      client.pause();
      client.resume();
      client.close();
    });
  });

  if (!transport.keepsMessagesApart) testLeavingMidMessage(transport);

  test("a closed listener accepts nobody, and open connections stay", async () => {
    await withEcho(transport, {}, async ({ client, listener }) => {
      await listener.close();
      await assert.rejects(async () => transport.connect(listener), isConnectError);
      const received = collect(client, 1);
      client.send([messageOf(300, 1)]);
      assertSame(await received, [messageOf(300, 1)]);
    });
  });
}

function testLeavingMidMessage(transport: TransportUnderTest): void {
  test("a peer that leaves in the middle of a message leaves no lease behind", async () => {
    let closed = 0;
    const onServer = (server: Connection) => {
      server.onClose = () => closed++;
    };
    await withServer(transport, { onServer }, async ({ client }) => {
      await new Promise<void>((resolve) =>
        client.send([messageOf(500_000, 1).subarray(0, 300_000)], () => resolve()),
      );
      await quiet();
      const ended = closeOf(client);
      client.close();
      await ended;
      await until(() => closed === 1);
    });
  });
}

function testManyConnections(transport: TransportUnderTest): void {
  const visitCount = transport.visitCount ?? 1000;
  test(`${visitCount} connections that come and go leave nothing behind`, async () => {
    let closed = 0;
    const onServer = (server: Connection) => {
      server.onMessage = (messageLease) => server.send([messageLease.bytes.slice()]);
      server.onClose = () => closed++;
    };
    await withServer(transport, { onServer }, async ({ listener }) => {
      for (let visited = 0; visited < visitCount; visited += 20) {
        await Promise.all(
          Array.from({ length: 20 }, (_, index) => visit(transport, listener, visited + index)),
        );
      }
      await until(() => closed === visitCount);
    });
  });
}

async function visit(transport: TransportUnderTest, listener: Listener, index: number): Promise<void> {
  const client = await transport.connect(listener);
  const received = collect(client, 1);
  const message = messageOf(256 + (index % 7) * 100, index);
  client.send([message]);
  assertSame(await received, [message]);
  const ended = closeOf(client);
  client.close();
  await ended;
}
