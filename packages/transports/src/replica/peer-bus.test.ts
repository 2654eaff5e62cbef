import { createSimPeerBuses } from "@millrace/platform/sim";
import { describePeerBusCompliance } from "./peer-bus.compliance.ts";
import { CLUSTER, ClusterUnderTest, frameOf, hash, until } from "./replica-bus-setting.compliance.ts";

describePeerBusCompliance("TCP", async () => {
  const cluster = new ClusterUnderTest();
  const { bus: one } = await cluster.start(1, { replicaCount: 2 });
  const { bus: zero } = await cluster.start(0, { replicaCount: 2 });
  await until(() => zero.isUp(1) && one.isUp(0), "they are connected");
  const [damaged] = frameOf(1);
  damaged?.fill(1, 0, 16);
  return { zero, one, part: () => one.send(0, [damaged!]), stop: () => cluster.stop() };
});

describePeerBusCompliance("simulated", async () => {
  const { buses, setLink } = createSimPeerBuses({ replicaCount: 2, cluster: CLUSTER, hash });
  const [zero, one] = buses;
  return {
    zero: zero!,
    one: one!,
    part: () => setLink(0, 1, false),
    stop: async () => {
      await Promise.all(buses.map((bus) => bus.close()));
    },
  };
});
