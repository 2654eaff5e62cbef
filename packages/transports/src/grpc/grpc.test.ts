import { HeapLeases } from "@millrace/framing";
import { silentLog } from "@millrace/platform";
import { makeTestAuthority } from "@millrace/testkit";
import { describeTransportCompliance } from "../transport.compliance.ts";
import { connectGrpc } from "./client/index.ts";
import { listenGrpc } from "./server/index.ts";

const host = "127.0.0.1";
const connectOptions = { host, leases: new HeapLeases(), messageLengthMax: 67_108_864, timeoutMs: 5000 };
const listenOptions = { host, port: 0, connectionsMax: 100, log: silentLog };

describeTransportCompliance("gRPC", {
  keepsMessagesApart: true,
  visitCount: 100,
  listen: (options) => listenGrpc({ ...options, ...listenOptions }),
  connect: ({ port }) => connectGrpc({ ...connectOptions, port }),
});

const authority = await makeTestAuthority();
const serverTls = await authority.issue([host]);

describeTransportCompliance("gRPC with TLS", {
  keepsMessagesApart: true,
  visitCount: 100,
  listen: (options) => listenGrpc({ ...options, ...listenOptions, tls: serverTls }),
  connect: ({ port }) =>
    connectGrpc({ ...connectOptions, port, tls: { authorities: authority.certificate } }),
});
