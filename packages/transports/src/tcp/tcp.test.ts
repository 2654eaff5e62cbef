import { HeapLeases } from "@millrace/framing";
import { silentLog } from "@millrace/platform";
import { describeTransportCompliance } from "../transport.compliance.ts";
import { connectTcp } from "./client/index.ts";
import { listenTcp } from "./server/index.ts";

for (const useOnread of [true, false]) {
  describeTransportCompliance(useOnread ? "TCP read into blocks" : "TCP read by copying", {
    listen: (options) =>
      listenTcp({ ...options, host: "127.0.0.1", port: 0, connectionsMax: 100, log: silentLog, useOnread }),
    connect: ({ port }) =>
      connectTcp({
        host: "127.0.0.1",
        port,
        leases: new HeapLeases(),
        messageLengthMax: 67_108_864,
        timeoutMs: 5000,
      }),
  });
}
