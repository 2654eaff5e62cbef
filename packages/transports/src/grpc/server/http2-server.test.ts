import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Settings } from "node:http2";
import { test } from "node:test";
import type { Server } from "@grpc/grpc-js";
import { BlockPool } from "@millrace/framing";
import { silentLog } from "@millrace/platform";
import { memoryOf } from "../../transport-setting.compliance.ts";
import { setHttp2 } from "./http2-server.ts";
import { listenGrpc } from "./listen-grpc.ts";

test("a client is told the windows and frames that let a batch come in one go", async () => {
  const listener = await listenGrpc({
    host: "127.0.0.1",
    port: 0,
    leases: new BlockPool(memoryOf(4_194_304)),
    messageLengthMax: 1_048_576,
    connectionsMax: 10,
    log: silentLog,
    onConnection: () => {},
  });
  const client = connect(`http://${listener.address}`);
  const [settings] = (await once(client, "remoteSettings")) as [Settings];
  assert.equal(settings.initialWindowSize, 4_194_304);
  assert.equal(settings.maxFrameSize, 262_144);
  assert.equal(settings.maxConcurrentStreams, 128);
  client.close();
  await listener.close();
});

test("a release of the library without the field we know keeps its own settings", () => {
  const other = { http2Servers: undefined } as unknown as Server;
  assert.equal(setHttp2(other, { callsMax: 1, isEncrypted: false, handshakeMaxMs: 1 }), false);
});
