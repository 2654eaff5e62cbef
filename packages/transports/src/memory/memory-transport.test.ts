import { SeededRandom } from "@millrace/testkit";
import { describeTransportCompliance } from "../transport.compliance.ts";
import { createMemoryTransport, type MemoryTransport } from "./memory-transport.ts";

const random = new SeededRandom(23);
const readsOf: Record<string, (length: number) => number> = {
  "memory with whole reads": (length) => length,
  "memory with reads of any length": (length) => 1 + random.below(Math.min(length, 300_000)),
};

for (const [name, pieceLength] of Object.entries(readsOf)) {
  let transport: MemoryTransport;
  describeTransportCompliance(name, {
    async listen(options) {
      transport = createMemoryTransport({ ...options, pieceLength });
      return transport.listen(options.onConnection);
    },
    connect: async () => transport.connect(),
  });
}
