import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { ErrorCode, isCodedError } from "@millrace/errors";
import { BlockPool, HeapLeases } from "@millrace/framing";
import { type Connection, type Listener, silentLog } from "@millrace/platform";
import { makeTestAuthority, type TestAuthority } from "@millrace/testkit";
import { connectGrpc } from "../grpc/client/index.ts";
import { listenGrpc } from "../grpc/server/index.ts";
import { connectTcp } from "../tcp/client/index.ts";
import { listenTcp } from "../tcp/server/index.ts";
import { assertSame, collect, memoryOf, messageOf } from "../transport-setting.compliance.ts";
import { connectWebSocket } from "../websocket/client/index.ts";
import { listenWebSocket } from "../websocket/server/index.ts";
import type { ClientTls, ServerTls } from "./index.ts";

const transports = {
  TCP: { listen: listenTcp, connect: connectTcp },
  gRPC: { listen: listenGrpc, connect: connectGrpc },
  WebSocket: { listen: listenWebSocket, connect: connectWebSocket },
};

let authority: TestAuthority;
let stranger: TestAuthority;
before(async () => {
  [authority, stranger] = await Promise.all([makeTestAuthority(), makeTestAuthority()]);
});

/** Codes of Node, and how the gRPC library words them. */
const NOT_TRUSTED = /UNABLE_TO|SELF_SIGNED|CERT_SIGNATURE|signature failure|self-signed|unable to/;
const OTHER_NAME = /ALTNAME|altnames/;

const refused = (reason: RegExp) => (error: unknown) => {
  assert.ok(isCodedError(error, ErrorCode.InvalidTlsCertificate), String(error));
  assert.match(error.message, reason);
  return true;
};

for (const [name, { listen, connect }] of Object.entries(transports)) {
  describe(`a client of ${name} with TLS`, () => {
    let listener: Listener;
    const servers: Connection[] = [];

    const listenWith = (tls: ServerTls) =>
      listen({
        host: "127.0.0.1",
        port: 0,
        leases: new BlockPool(memoryOf(4 * 1_048_576)),
        messageLengthMax: 1_048_576,
        connectionsMax: 10,
        log: silentLog,
        tls,
        onConnection: (connection) => {
          servers.push(connection);
          connection.onMessage = (messageLease) => connection.send([messageLease.bytes.slice()]);
        },
      });
    const connectWith = (tls?: ClientTls) =>
      connect({
        host: "127.0.0.1",
        port: listener.port,
        leases: new HeapLeases(),
        messageLengthMax: 1_048_576,
        timeoutMs: 2000,
        ...(tls === undefined ? {} : { tls }),
      });
    const echoes = async (tls: ClientTls) => {
      const client = await connectWith(tls);
      const received = collect(client, 1);
      client.send([messageOf(100_000, 1)]);
      assertSame(await received, [messageOf(100_000, 1)]);
      client.close();
    };

    before(async () => {
      listener = await listenWith(await authority.issue(["node.example"]));
    });
    after(() => listener.close());

    test("trusts the authority it was given, for the name it was given", async () => {
      await echoes({ authorities: authority.certificate, serverName: "node.example" });
    });

    test("refuses another authority, and the system's when none is given", async () => {
      const tls = { serverName: "node.example", authorities: stranger.certificate };
      await assert.rejects(connectWith(tls), refused(NOT_TRUSTED));
      await assert.rejects(connectWith({ serverName: "node.example" }), refused(NOT_TRUSTED));
    });

    test("refuses a certificate for another name", async () => {
      const tls = { authorities: authority.certificate };
      await assert.rejects(connectWith(tls), refused(OTHER_NAME));
      await assert.rejects(connectWith({ ...tls, serverName: "other.example" }), refused(OTHER_NAME));
    });

    test("takes any certificate only when told so", async () => {
      await echoes({ isVerified: false });
    });

    test("is needed where the listener encrypts, and of no use where it does not", async () => {
      const client = await connectWith().catch((error: unknown) => error);
      if (!isCodedError(client, ErrorCode.CannotEstablishConnection)) {
        const connection = client as Connection;
        const closed = new Promise((resolve) => {
          connection.onClose = resolve;
        });
        connection.send([messageOf(256, 1)]);
        await closed;
      }
    });

    test("a listener refuses a certificate that is none, and a key of another certificate", async () => {
      const [one, other] = await Promise.all([authority.issue(["a"]), authority.issue(["b"])]);
      for (const tls of [
        { certificate: "nonsense", privateKey: one.privateKey },
        { certificate: one.certificate, privateKey: other.privateKey },
      ]) {
        await assert.rejects(listenWith(tls), (error) =>
          isCodedError(error, ErrorCode.InvalidTlsCertificate),
        );
      }
    });
  });
}
