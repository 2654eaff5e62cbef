import { HeapLeases } from "@millrace/framing";
import { silentLog } from "@millrace/platform";
import { makeTestAuthority } from "@millrace/testkit";
import { describeTransportCompliance } from "../transport.compliance.ts";
import { connectTcp } from "./client/index.ts";
import { listenTcp } from "./server/index.ts";

const host = "127.0.0.1";
const connectOptions = { host, leases: new HeapLeases(), messageLengthMax: 67_108_864, timeoutMs: 5000 };
const listenOptions = { host, port: 0, connectionsMax: 100, log: silentLog };

for (const useOnread of [true, false]) {
  describeTransportCompliance(useOnread ? "TCP read into blocks" : "TCP read by copying", {
    listen: (options) => listenTcp({ ...options, ...listenOptions, useOnread }),
    connect: ({ port }) => connectTcp({ ...connectOptions, port }),
  });
}

const authority = await makeTestAuthority();
const serverTls = await authority.issue([host]);

describeTransportCompliance("TCP with TLS", {
  listen: (options) => listenTcp({ ...options, ...listenOptions, tls: serverTls }),
  connect: ({ port }) => connectTcp({ ...connectOptions, port, tls: { authorities: authority.certificate } }),
});
