import assert from "node:assert/strict";
import { on } from "node:events";
import { byteByByte, ReplyProxy, splitAt } from "../../../packages/testkit/dist/index.js";
import { streamWithTopic } from "./catalog-cases.mjs";
import { poll, send } from "./message-cases.mjs";

/** The longest reply is 64 MiB; 63 of these come close: their frames and the header take another 3 KiB. */
const LARGE_LENGTH = 1_064_000;
const LARGE_COUNT = 63;

const JOINED = 10;

/** How a network cuts each reply. */
const shapes = {
  "replies that come byte by byte are decoded": byteByByte,
  "replies that come split at 255 are decoded": splitAt(255),
  "replies that come split at 256 are decoded": splitAt(256),
  "replies that come split at 257 are decoded": splitAt(257),
};

/** The world with a root client behind a proxy that cuts replies. */
async function behindProxy(world, piecesOf, use) {
  const proxy = await ReplyProxy.start(world.address, { piecesOf });
  const root = world.newClient(undefined, proxy.address);
  try {
    await use({ ...world, root });
  } finally {
    await root.destroy();
    await proxy.close();
  }
  const { replies, writes } = proxy.counts;
  assert.ok(writes > replies, `${replies} replies came in ${writes} pieces`);
}

async function exercise(world, streamId) {
  const place = await streamWithTopic(world, streamId);
  const sent = Array.from({ length: 200 }, (_, length) => "x".repeat(length + 1));
  await send(
    world,
    place,
    0,
    sent.map((payload) => ({ payload })),
  );
  const asked = Array.from({ length: 20 }, () => world.root.topic.get(place));
  for (const topic of await Promise.all(asked)) assert.equal(Number(topic.messagesCount), sent.length);
  const seen = await poll(world, place, world.sdk.PollingStrategy.First, sent.length);
  assert.deepEqual(
    seen.map((one) => one.payload.toString()),
    sent,
  );
}

/** A connection of the client's own at `address`, and `ask`: the next `count` frames that come after sending one. */
async function bareConnection({ inside }, address) {
  const { IggyConnection } = await inside("client/client.connection.js");
  const [host, port] = address.split(":");
  const options = { host, port: Number(port) };
  const connection = new IggyConnection({ transport: "TCP", options, reconnect: { enabled: false } });
  await connection.connect();
  const frames = on(connection, "response");
  const ask = async (request, count) => {
    connection.writeFrame(request);
    const answers = [];
    while (answers.length < count) answers.push((await frames.next()).value[0]);
    return answers;
  };
  return { connection, ask };
}

/** Asks for the streams ten times at once. The client itself waits for each reply; its connection need not. */
async function exerciseJoined(world, address) {
  const vsr = await world.inside("wire/vsr/index.js");
  const { LOGIN, GET_STREAMS } = await world.inside("wire/index.js");
  const { connection, ask } = await bareConnection(world, address);
  try {
    const session = new vsr.VsrSession();
    const credentials = LOGIN.serialize({ username: "iggy", password: "iggy" });
    const login = vsr.prepareVsrCommand(LOGIN.code, credentials);
    const [welcome] = await ask(session.encode(login.command, login.payload), 1);
    session.bind(vsr.readRegisteredSession(vsr.decodeVsrResponse(welcome, login.command)));
    const request = session.encode(GET_STREAMS.code, GET_STREAMS.serialize());
    const answers = await ask(Buffer.concat(Array(JOINED).fill(request)), JOINED);
    return answers.map((answer) => GET_STREAMS.deserialize(vsr.decodeVsrResponse(answer, GET_STREAMS.code)));
  } finally {
    connection._destroy();
  }
}

/** Replies that a network cuts and joins (E-06). Each case: `(world) => Promise`. */
export const shapeCases = {
  ...Object.fromEntries(
    Object.entries(shapes).map(([title, piecesOf], index) => [
      title,
      (world) => behindProxy(world, piecesOf, (behind) => exercise(behind, `shape-${index}`)),
    ]),
  ),

  "replies that come joined, ten at a time, are decoded by the client's connection": async (world) => {
    await streamWithTopic(world, "joined");
    const wanted = await world.root.stream.list();
    const proxy = await ReplyProxy.start(world.address, { joined: JOINED });
    try {
      const seen = await exerciseJoined(world, proxy.address);
      assert.deepEqual(seen, Array(JOINED).fill(wanted));
      const { replies, writes } = proxy.counts;
      assert.ok(writes < replies, `${replies} replies came in ${writes} writes`);
    } finally {
      await proxy.close();
    }
  },

  "a reply of nearly 64 MiB is decoded": (world) =>
    behindProxy(world, splitAt(257), async (behind) => {
      const place = await streamWithTopic(behind, "large");
      const payload = Buffer.alloc(LARGE_LENGTH, 7);
      for (let index = 0; index < LARGE_COUNT; index += 1) await send(behind, place, 0, [{ payload }]);
      const seen = await poll(behind, place, world.sdk.PollingStrategy.First, LARGE_COUNT);
      assert.equal(seen.length, LARGE_COUNT);
      for (const message of seen) assert.ok(payload.equals(message.payload));
    }),
};
