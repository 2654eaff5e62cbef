import assert from "node:assert/strict";
import net from "node:net";
import { before, describe, test } from "node:test";
import { connect as connectTls } from "node:tls";
import { ErrorCode, isCodedError } from "@millrace/errors";
import { encodeRequestHeader, HeapLeases, openReplicaFrame, ReplicaCommand } from "@millrace/framing";
import { makeTestAuthority, SeededRandom, type TestAuthority } from "@millrace/testkit";
import { connectTcp } from "../tcp/client/index.ts";
import { ACCEPTED, REFUSAL_REASONS, reasonOfStatus, refusal, statusOf } from "./handshake/refusal.ts";
import { clusterIdOf, loadChannelKeys, loadDataKey } from "./index.ts";
import {
  type BusUnderTest,
  type ClusterUnderTest,
  frameOf,
  hash,
  until,
  withCluster,
} from "./replica-bus-setting.compliance.ts";

const SECRET = "a secret that all replicas know, 1";
const OTHER_SECRET = "a secret that all replicas know, 2";
const keysOf = (sharedSecret: string, previousSharedSecret?: string) =>
  loadChannelKeys({ sharedSecret, previousSharedSecret });

const REFUSED = "A connection to the replica port was refused.";
const CANNOT = "A replica cannot be connected; trying on.";
const says = ({ lines }: BusUnderTest, line: string) => lines.includes(line);

/** Replicas 0 and 2 of three, connected; whoever tries to be 1 must not disturb them. */
async function pairWithout1(
  cluster: ClusterUnderTest,
  options: Parameters<ClusterUnderTest["start"]>[1] = {},
) {
  const two = await cluster.start(2, options);
  const zero = await cluster.start(0, options);
  await until(() => zero.bus.isUp(2) && two.bus.isUp(0), "0 and 2 are connected");
  return { zero, two };
}

async function assertCarriesOn({ zero, two }: { zero: BusUnderTest; two: BusUnderTest }): Promise<void> {
  zero.send(2, { view: 41 });
  two.send(0, { view: 42 });
  await until(() => two.heard.includes("0:41") && zero.heard.includes("2:42"), "0 and 2 carry on");
  assert.deepEqual([zero.turns, two.turns], [["up 2"], ["up 0"]]);
}

describe("a replica is refused with a reason in the log, and the others carry on, when", () => {
  test("it has another secret", () =>
    withCluster(async (cluster) => {
      const pair = await pairWithout1(cluster, { keys: await keysOf(SECRET) });
      const wrong = await cluster.start(1, { keys: await keysOf(OTHER_SECRET) });
      await until(() => says(wrong, `${CANNOT} unproven`), "it does not believe 2");
      await until(() => says(pair.zero, `${CANNOT} unproven`), "0 does not believe it");
      await until(() => says(pair.two, `${REFUSED} unproven`), "it leaves 2 without a proof");
      assert.deepEqual(wrong.turns, []);
      await assertCarriesOn(pair);
    }));

  test("it sends a proof that is none", () =>
    withCluster(async (cluster) => {
      const keys = await keysOf(SECRET);
      const pair = await pairWithout1(cluster, { keys });
      const lying = { ...keys, prove: () => new Uint8Array(32) };
      await cluster.start(1, { keys: lying });
      await until(() => says(pair.two, `${REFUSED} unproven`), "2 says so");
      await until(() => says(pair.zero, `${CANNOT} unproven`), "0 says so");
      await assertCarriesOn(pair);
    }));

  test("it is of another cluster", () =>
    withCluster(async (cluster) => {
      const [one, other] = [await clusterIdOf("orders"), await clusterIdOf("payments")];
      assert.notEqual(one, other);
      const pair = await pairWithout1(cluster, { cluster: one });
      const stranger = await cluster.start(1, { cluster: other });
      await until(() => says(pair.two, `${REFUSED} other_cluster`), "2 says so");
      await until(() => says(stranger, `${CANNOT} other_cluster`), "it is told");
      await until(() => says(pair.zero, `${CANNOT} other_cluster`), "0 is told");
      await until(() => says(stranger, `${REFUSED} other_cluster`), "it refuses 0 too");
      assert.deepEqual([pair.zero.turns, pair.two.turns, stranger.turns], [["up 2"], ["up 0"], []]);
    }));

  test("a process with its id is connected already, until that one is gone", () =>
    withCluster(async (cluster) => {
      const pair = await pairWithout1(cluster);
      const second = await cluster.start(0);
      await until(() => says(pair.two, `${REFUSED} already_connected`), "2 says so");
      await until(() => says(second, `${CANNOT} already_connected`), "it is told");
      await assertCarriesOn(pair);
      await pair.zero.bus.close();
      await until(() => second.bus.isUp(2), "its place is free");
    }));

  test("its id is not in the roster, or the rosters differ", () =>
    withCluster(async (cluster) => {
      const pair = await pairWithout1(cluster);
      const addressOf = () => ({ host: "127.0.0.1", port: pair.two.bus.port });
      const unknown = cluster.make(3, { replicaCount: 5, addressOf });
      await unknown.bus.listen();
      await until(() => says(pair.two, `${REFUSED} not_in_roster`), "2 says so");
      await until(() => says(unknown, `${CANNOT} not_in_roster`), "it is told");
      const larger = cluster.make(1, { replicaCount: 4, addressOf });
      await larger.bus.listen();
      await until(() => says(larger, `${CANNOT} other_roster`), "its roster is longer");
      await assertCarriesOn(pair);
    }));

  test("it dials the wrong address, or one with a lower id", () =>
    withCluster(async (cluster) => {
      const pair = await pairWithout1(cluster);
      const addressOf = () => ({ host: "127.0.0.1", port: pair.zero.bus.port });
      const lost = cluster.make(1, { addressOf });
      await lost.bus.listen();
      await until(() => says(pair.zero, `${REFUSED} other_replica`), "0 was not meant");
      await until(() => says(lost, `${CANNOT} other_replica`), "it is told");
      await assertCarriesOn(pair);
    }));

  test("only one side uses a secret", () =>
    withCluster(async (cluster) => {
      const pair = await pairWithout1(cluster, { keys: await keysOf(SECRET) });
      const open = await cluster.start(1);
      await until(() => says(pair.two, `${REFUSED} other_security`), "2 says so");
      await until(() => says(open, `${REFUSED} other_security`), "it refuses 0 too");
      await assertCarriesOn(pair);
    }));

  test("only one side encrypts its messages at rest, or with another key, whoever dials", () =>
    withCluster(async (cluster) => {
      const [keyA, keyB] = await Promise.all(
        [1, 2].map((byte) => loadDataKey(new Uint8Array(32).fill(byte))),
      );
      for (const keys of [undefined, await keysOf(SECRET)]) {
        for (const [ours, theirs, reason] of [
          [keyA, undefined, "other_encryption"],
          [undefined, keyA, "other_encryption"],
          [keyA, keyB, "other_key"],
        ] as const) {
          const pair = await pairWithout1(cluster, { keys, dataKey: ours });
          const odd = await cluster.start(1, { keys, dataKey: theirs });
          await until(() => says(pair.two, `${REFUSED} ${reason}`), `2 says ${reason}`);
          await until(() => says(odd, `${CANNOT} ${reason}`), "it is told");
          await until(() => says(odd, `${REFUSED} ${reason}`), "it refuses 0 too");
          await until(() => says(pair.zero, `${CANNOT} ${reason}`), "0 is told");
          assert.deepEqual(odd.turns, []);
          await assertCarriesOn(pair);
          await Promise.all([odd, pair.zero, pair.two].map(({ bus }) => bus.close()));
        }
      }
    }));

  test("it shows that it had the key for another connection", () =>
    withCluster(async (cluster) => {
      const dataKey = await loadDataKey(new Uint8Array(32).fill(1));
      const pair = await pairWithout1(cluster, { dataKey });
      const old = dataKey.prove({ cluster: 77n, dialer: 1, acceptor: 2, nonce: new Uint8Array(32) });
      const replaying = await cluster.start(1, {
        dataKey: { prove: () => old, isProvenBy: () => false },
      });
      await until(() => says(replaying, `${CANNOT} other_key`), "2 does not take it");
      await assertCarriesOn(pair);
    }));

  test("it sends a frame with a bad seal, and it may come back", () =>
    withCluster(async (cluster) => {
      const pair = await pairWithout1(cluster);
      const one = await cluster.start(1);
      await until(() => one.turns.length === 2, "1 is connected");
      const [head] = frameOf(1, { fields: Uint8Array.of(1) });
      assert.ok(head !== undefined);
      head[200]! ^= 1;
      one.bus.send(2, [head]);
      await until(() => pair.two.turns.includes("down 1"), "2 ends the connection");
      assert.ok(says(pair.two, "A replica is not connected any longer. bad_seal"));
      assert.equal(pair.two.count("replica_frames_invalid_total"), 1);
      await until(() => pair.two.turns.at(-1) === "up 1", "1 is back");
      one.send(2, { view: 7 });
      await until(() => pair.two.heard.includes("1:7"), "1 is heard");
      assert.ok(pair.zero.bus.isUp(1) && pair.zero.bus.isUp(2));
    }));

  test("it speaks in another's name, goes on shaking hands, or announces more than a frame may hold", () =>
    withCluster(async (cluster) => {
      const pair = await pairWithout1(cluster);
      const one = await cluster.start(1);
      const [tooLong] = frameOf(1);
      assert.ok(tooLong !== undefined);
      new DataView(tooLong.buffer).setUint32(48, 2 ** 31, true);
      const wrong = [
        [frameOf(0), "other_replica"],
        [frameOf(1, { command: 18 }), "handshake_over"],
        [[tooLong], "A message announces 2147483648 bytes; 256 to 2097152 are allowed."],
      ] as const;
      for (const [parts, reason] of wrong) {
        await until(() => one.bus.isUp(2) && pair.two.bus.isUp(1), "1 is connected");
        one.bus.send(2, parts);
        await until(() => says(pair.two, `A replica is not connected any longer. ${reason}`), reason);
      }
    }));
});

test("Each refusal has the code of all of them and a reason; the status of a challenge tells it.", () => {
  for (const reason of REFUSAL_REASONS) {
    const error = refusal(reason, { replica: 3 });
    assert.ok(isCodedError(error, ErrorCode.ReplicaRefused));
    assert.deepEqual(error.details, { reason, replica: 3 });
    const status = statusOf(reason);
    if (status !== undefined) assert.equal(reasonOfStatus(status), reason);
  }
  assert.equal(reasonOfStatus(ACCEPTED), undefined);
  assert.equal(reasonOfStatus(255), undefined);
});

describe("the replica port", () => {
  const closed = (socket: net.Socket) =>
    new Promise<void>((resolve) => {
      if (socket.closed) resolve();
      else socket.once("close", () => resolve());
    });

  /** What the port says to an opening: one frame, or the end. */
  async function answerTo({ bus }: BusUnderTest, opening: readonly Uint8Array[]) {
    const socket = net.connect(bus.port, "127.0.0.1");
    socket.on("error", () => {});
    for (const part of opening) socket.write(part);
    const said: Buffer[] = [];
    const isAnswered = new Promise<void>((resolve) => {
      socket.on("data", (bytes) => {
        said.push(bytes);
        if (bytes[160] === ACCEPTED) resolve();
      });
      socket.once("close", () => resolve());
    });
    await isAnswered;
    return { answer: Buffer.concat(said), socket };
  }

  test("closes the connection of a client and says what reached it", () =>
    withCluster(async (cluster) => {
      const pair = await pairWithout1(cluster);
      const leases = new HeapLeases();
      const { port } = pair.two.bus;
      const options = { host: "127.0.0.1", port, leases, messageLengthMax: 4096, timeoutMs: 2000 };
      const client = await connectTcp(options);
      const gone = new Promise((resolve) => {
        client.onClose = resolve;
      });
      const ping = new Uint8Array(256);
      encodeRequestHeader(ping, { length: 256, client: 1n, operation: 2, code: 1 });
      client.send([ping]);
      await gone;
      assert.ok(says(pair.two, `${REFUSED} client`));
      assert.equal(pair.two.count("replica_connections_refused_total{client}"), 1);
      await assertCarriesOn(pair);
    }));

  test("closes whatever sends no handshake, and writes of a flood one line", () =>
    withCluster(async (cluster) => {
      const pair = await pairWithout1(cluster);
      const random = new SeededRandom(3);
      const texts = ["GET / HTTP/1.1\r\nHost: example.org\r\n\r\n".padEnd(300, "x"), "\0".repeat(300)];
      const [frame] = frameOf(1);
      const garbage = [...texts.map((text) => Buffer.from(text)), frame!, frame!.slice().fill(1, 0, 16)];
      for (let round = 0; round < 40; round++) garbage.push(random.bytes(600));
      for (const bytes of garbage) {
        const socket = net.connect(pair.two.bus.port, "127.0.0.1");
        socket.on("error", () => {});
        socket.resume();
        socket.write(bytes);
        await closed(socket);
      }
      const told = pair.two.lines.filter((line) => line.startsWith(REFUSED));
      assert.deepEqual(told, [`${REFUSED} no_replica`]);
      await until(
        () => pair.two.count("replica_connections_refused_total{no_replica}") === garbage.length,
        "all are counted",
      );
      await assertCarriesOn(pair);
    }));

  test("closes who shakes hands in the wrong order, with fields that nobody writes, or with a proof sent back", () =>
    withCluster(async (cluster) => {
      const keys = await keysOf(SECRET);
      const pair = await pairWithout1(cluster, { keys });
      const random = new SeededRandom(9);
      const { hello, challenge, finish } = ReplicaCommand;
      const greeting = Uint8Array.of(2, 3, 1, ...random.bytes(32));
      const openings = [
        frameOf(1, { command: finish, fields: random.bytes(32) }),
        frameOf(1, { command: challenge, fields: random.bytes(65) }),
        frameOf(1, { command: hello, fields: greeting, payload: Uint8Array.of(1) }),
        ...Array.from({ length: 30 }, () =>
          frameOf(1, { command: hello, fields: random.bytes(random.below(200)) }),
        ),
      ];
      for (const opening of openings)
        assert.equal((await answerTo(pair.two, opening)).socket.destroyed, true);
      const { answer, socket } = await answerTo(pair.two, frameOf(1, { command: hello, fields: greeting }));
      const { fields } = openReplicaFrame(hash, answer);
      assert.equal(fields[0], ACCEPTED);
      socket.write(frameOf(1, { command: finish, fields: fields.slice(33, 65) })[0]!);
      await closed(socket);
      await until(() => says(pair.two, `${REFUSED} unproven`), "the proof is another's");
      await assertCarriesOn(pair);
    }));

  test("closes who says nothing when the time for a handshake is over", () =>
    withCluster(async (cluster) => {
      const two = await cluster.start(2, { handshakeMs: 100 });
      const socket = net.connect(two.bus.port, "127.0.0.1");
      socket.resume();
      await closed(socket);
      await until(() => says(two, `${REFUSED} too_slow`), "it says so");
    }));

  for (const isEncrypted of [false, true]) {
    test(`has room for a replica however many others say nothing${isEncrypted ? ", with TLS too" : ""}`, () =>
      withCluster(async (cluster) => {
        const authority = await makeTestAuthority();
        const secure = { keys: await keysOf(SECRET), tls: await authority.issue(["127.0.0.1"]) };
        const options = isEncrypted ? secure : {};
        const two = await cluster.start(2, { ...options, handshakeMs: 60_000 });
        const sockets = Array.from({ length: 40 }, () => net.connect(two.bus.port, "127.0.0.1"));
        for (const socket of sockets) socket.on("error", () => {}).resume();
        cluster.onStop(() => {
          for (const socket of sockets) socket.destroy();
        });
        await until(() => says(two, `${REFUSED} too_many`), "the oldest had to go");
        const zero = await cluster.start(0, options);
        await until(() => zero.bus.isUp(2), "0 is connected");
        assert.ok(two.count("replica_connections_refused_total{too_many}") >= 9);
      }));
  }
});

describe("the shared secret", () => {
  test("is exchanged on one node after the other while all stay connected", () =>
    withCluster(async (cluster) => {
      const [before, during, afterwards, settled] = await Promise.all([
        keysOf(SECRET),
        keysOf(SECRET, OTHER_SECRET),
        keysOf(OTHER_SECRET, SECRET),
        keysOf(OTHER_SECRET),
      ]);
      for (const [low, high] of [
        [before, during],
        [during, before],
        [during, afterwards],
        [afterwards, during],
        [afterwards, settled],
        [settled, afterwards],
      ] as const) {
        const one = await cluster.start(1, { keys: high });
        const zero = await cluster.start(0, { keys: low });
        await until(() => zero.bus.isUp(1) && one.bus.isUp(0), "they are connected");
        await Promise.all([zero.bus.close(), one.bus.close()]);
      }
    }));

  test("makes the keyed BLAKE3 that others make of it", async () => {
    const { createBLAKE3 } = await import("hash-wasm");
    const keyed = await createBLAKE3(256, "whats the Elvish word for friend");
    const empty = "92b2b75604ed3c761f9d6f62392c8a9227ad0ea3f09573e783f1498a4ed60d26";
    assert.equal(keyed.init().update("").digest("hex"), empty);
    const keys = await keysOf(SECRET);
    const transcript = Uint8Array.of(1, 2, 3);
    const mac = keys.prove(0, transcript);
    assert.equal(keys.provenBy(mac, transcript), 0);
    assert.equal(keys.provenBy(mac, Uint8Array.of(1, 2, 4)), undefined);
    assert.equal((await keysOf(OTHER_SECRET, SECRET)).provenBy(mac, transcript), 1);
  });
});

describe("TLS between replicas", () => {
  let authority: TestAuthority;
  let stranger: TestAuthority;
  before(async () => {
    [authority, stranger] = await Promise.all([makeTestAuthority(), makeTestAuthority()]);
  });

  const tlsOf = async (issuer: TestAuthority, trusted?: TestAuthority) => ({
    ...(await issuer.issue(["127.0.0.1"])),
    authorities: trusted?.certificate,
  });

  test("carries the bus, with certificates of an authority or with any", () =>
    withCluster(async (cluster) => {
      const keys = await keysOf(SECRET);
      for (const trusted of [authority, undefined]) {
        const tls = await tlsOf(authority, trusted);
        const one = await cluster.start(1, { keys, tls });
        const zero = await cluster.start(0, { keys, tls });
        await until(() => zero.bus.isUp(1) && one.bus.isUp(0), "they are connected");
        zero.send(1, { view: 3, payload: new Uint8Array(1_000_000) });
        await until(() => one.heard.includes("0:3+1000000"), "frames arrive");
        await Promise.all([zero.bus.close(), one.bus.close()]);
      }
    }));

  test("refuses a certificate of another authority", () =>
    withCluster(async (cluster) => {
      const keys = await keysOf(SECRET);
      await cluster.start(1, { keys, tls: await tlsOf(stranger) });
      const zero = await cluster.start(0, { keys, tls: await tlsOf(authority, authority) });
      await until(
        () => zero.lines.some((line) => /^A replica cannot .*(SIGNATURE|UNABLE)/.test(line)),
        "0 says so",
      );
    }));

  test("does not help who does not know the secret", () =>
    withCluster(async (cluster) => {
      const tls = await tlsOf(authority);
      await cluster.start(1, { keys: await keysOf(OTHER_SECRET), tls });
      const zero = await cluster.start(0, { keys: await keysOf(SECRET), tls });
      await until(() => says(zero, `${CANNOT} unproven`), "0 does not believe it");
    }));

  test("is for replicas only, and for both sides or none", () =>
    withCluster(async (cluster) => {
      const keys = await keysOf(SECRET);
      const one = await cluster.start(1, { keys, tls: await tlsOf(authority) });
      const { port } = one.bus;
      for (const options of [{}, { ALPNProtocols: ["h2"] }, { maxVersion: "TLSv1.2" as const }]) {
        const socket = connectTls({ host: "127.0.0.1", port, rejectUnauthorized: false, ...options });
        socket.on("error", () => {}).resume();
        await new Promise((resolve) => socket.once("close", resolve));
      }
      assert.ok(says(one, `${REFUSED} other_channel`));
      const plain = await cluster.start(0, { keys });
      await until(() => plain.lines.some((line) => line.startsWith(CANNOT)), "a plain dialer is told");
      const before = one.count("replica_connections_refused_total{other_channel}");
      await until(
        () => one.count("replica_connections_refused_total{other_channel}") > before,
        "and tries on",
      );
      assert.deepEqual(one.turns, []);
    }));

  test("dialled to a port without TLS is refused", () =>
    withCluster(async (cluster) => {
      const keys = await keysOf(SECRET);
      const one = await cluster.start(1, { keys });
      await cluster.start(0, { keys, tls: await tlsOf(authority) });
      await until(() => says(one, `${REFUSED} no_replica`), "1 says so");
    }));

  test("ties the proof to the connection: one who stands between is found out", () =>
    withCluster(async (cluster) => {
      const { createServer } = await import("node:tls");
      const keys = await keysOf(SECRET);
      const tls = await tlsOf(authority);
      const zero = cluster.make(0, { keys, tls });
      const between = createServer(
        { cert: tls.certificate, key: tls.privateKey, ALPNProtocols: ["iggy-replica"] },
        (near) => {
          const way = { host: "127.0.0.1", port: target, ALPNProtocols: ["iggy-replica"] };
          const far = connectTls({ ...way, rejectUnauthorized: false });
          for (const socket of [near, far]) socket.on("error", () => {});
          near.pipe(far).pipe(near);
        },
      );
      cluster.onStop(() => between.close());
      let target = 0;
      await cluster.start(1, { keys, tls }, (own) => {
        target = own;
        return new Promise((resolve) => {
          between.listen(0, "127.0.0.1", () => resolve((between.address() as net.AddressInfo).port));
        });
      });
      await zero.bus.listen();
      await until(() => says(zero, `${CANNOT} unproven`), "0 does not believe what came through");
    }));
});
