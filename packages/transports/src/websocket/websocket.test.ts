import { HeapLeases } from "@millrace/framing";
import { silentLog } from "@millrace/platform";
import { makeTestAuthority } from "@millrace/testkit";
import { describeTransportCompliance } from "../transport.compliance.ts";
import { connectWebSocket } from "./client/index.ts";
import { listenWebSocket } from "./server/index.ts";

const host = "127.0.0.1";
const connectOptions = { host, leases: new HeapLeases(), messageLengthMax: 67_108_864, timeoutMs: 5000 };
const listenOptions = { host, port: 0, connectionsMax: 100, log: silentLog };

describeTransportCompliance("WebSocket", {
  keepsMessagesApart: true,
  listen: (options) => listenWebSocket({ ...options, ...listenOptions }),
  connect: ({ port }) => connectWebSocket({ ...connectOptions, port }),
});

const authority = await makeTestAuthority();
const serverTls = await authority.issue([host]);

describeTransportCompliance("WebSocket with TLS", {
  keepsMessagesApart: true,
  listen: (options) => listenWebSocket({ ...options, ...listenOptions, tls: serverTls }),
  connect: ({ port }) =>
    connectWebSocket({ ...connectOptions, port, tls: { authorities: authority.certificate } }),
});
