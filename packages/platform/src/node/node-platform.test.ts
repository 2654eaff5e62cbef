import assert from "node:assert/strict";
import { test } from "node:test";
import { type ControlGroupLimits, controlGroupLimits } from "./control-group.ts";
import { createNodeClock } from "./node-clock.ts";
import { createNodeHost } from "./node-host.ts";
import { createNodePasswords } from "./node-passwords.ts";
import { createNodePlatform } from "./node-platform.ts";
import { nodeRandom } from "./node-random.ts";

const cheap = { logCost: 4, blockSize: 8, parallel: 1 };

test("the wall clock is the system's in microseconds and does not step back while that does not", () => {
  const clock = createNodeClock();
  let before = clock.wallMicros();
  assert.ok(Math.abs(before / 1000 - Date.now()) < 50);
  for (let round = 0; round < 1000; round++) {
    const now = clock.wallMicros();
    assert.ok(Number.isSafeInteger(now) && now >= before);
    before = now;
  }
});

test("the wall clock follows a step of the system's", (context) => {
  const clock = createNodeClock();
  const before = clock.wallMicros();
  const realNow = Date.now;
  context.mock.method(Date, "now", () => realNow() + 3_600_000);
  assert.ok(clock.wallMicros() - before >= 3_599_000_000);
  context.mock.restoreAll();
  assert.ok(clock.wallMicros() - before < 1_000_000_000);
});

test("afterEvent runs after the current event and before the next one", async () => {
  const clock = createNodeClock();
  const order: string[] = [];
  await new Promise<void>((resolve) => {
    setImmediate(() => {
      clock.afterEvent(() => order.push("after"));
      order.push("event");
    });
    setImmediate(() => {
      order.push("next");
      resolve();
    });
  });
  assert.deepEqual(order, ["event", "after", "next"]);
});

test("a timer fires once and not after cancel", async () => {
  const clock = createNodeClock();
  let fired = 0;
  clock.setTimer(1, () => fired++);
  const cancelled = clock.setTimer(1, () => (fired += 10));
  cancelled.cancel();
  cancelled.cancel();
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(fired, 1);
});

test("random bytes and fractions differ and stay in range", () => {
  assert.equal(nodeRandom.bytes(16).length, 16);
  assert.notDeepEqual(nodeRandom.bytes(16), nodeRandom.bytes(16));
  for (let round = 0; round < 100; round++) {
    const fraction = nodeRandom.fraction();
    assert.ok(fraction >= 0 && fraction < 1);
  }
});

test("a password verifies against its own hash only, and two hashes of one password differ", async () => {
  const passwords = createNodePasswords(cheap);
  const stored = await passwords.hash("secret ü");
  assert.match(stored, /^\$scrypt\$ln=4,r=8,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
  assert.ok(!stored.includes("secret"));
  assert.equal(await passwords.verify("secret ü", stored), true);
  assert.equal(await passwords.verify("secret u", stored), false);
  assert.notEqual(await passwords.hash("secret ü"), stored);
});

test("a hash of another cost still verifies", async () => {
  const stored = await createNodePasswords({ logCost: 5, blockSize: 4, parallel: 2 }).hash("secret");
  assert.equal(await createNodePasswords(cheap).verify("secret", stored), true);
});

test("a stored text that does not parse, or asks for too much, is just not right", async () => {
  const passwords = createNodePasswords(cheap);
  const stored = await passwords.hash("secret");
  const bad = [
    "",
    "secret",
    "$scrypt$",
    stored.slice(0, -1),
    `${stored}A`,
    stored.replace("ln=4", "ln=18"),
    stored.replace("ln=4", "ln=0"),
    stored.replace("r=8", "r=99"),
    stored.replace("p=1", "p=17"),
    stored.replace("scrypt", "bcrypt"),
  ];
  for (const text of bad) assert.equal(await passwords.verify("secret", text), false, text);
});

test("many passwords at once are all answered, each rightly", async () => {
  const passwords = createNodePasswords(cheap);
  const stored = await passwords.hash("pass 3");
  const answers = await Promise.all(
    Array.from({ length: 9 }, (_, index) => passwords.verify(`pass ${index}`, stored)),
  );
  assert.deepEqual(
    answers,
    Array.from({ length: 9 }, (_, index) => index === 3),
  );
});

test("a host tells plausible facts and load", () => {
  const host = createNodeHost();
  assert.equal(host.facts.processId, process.pid);
  assert.ok(host.facts.threadsCount >= 1 && host.facts.hostname !== "" && host.facts.kernelVersion !== "");
  const endMs = performance.now() + 30;
  while (performance.now() < endMs) {}
  const load = host.load();
  assert.ok(load.cpuUsage > 10 && load.totalCpuUsage >= 0 && load.totalCpuUsage <= 100);
  assert.ok(load.memoryUsage > 1_000_000 && load.totalMemory > load.memoryUsage);
  assert.ok(load.availableMemory >= 0 && load.availableMemory <= load.totalMemory);
  const soon = host.load();
  assert.deepEqual(
    [soon.cpuUsage, soon.totalCpuUsage],
    [load.cpuUsage, load.totalCpuUsage],
    "no figure is measured over a moment",
  );
});

test("the limits of a control group are read in both versions, the tightest counts", () => {
  const cases: [string, Record<string, string>, ControlGroupLimits][] = [
    ["no control groups", {}, {}],
    [
      "version 2, limit in the own group, quota above it",
      {
        "/proc/self/cgroup": "0::/app/inner\n",
        "/sys/fs/cgroup/app/inner/memory.max": "1000000\n",
        "/sys/fs/cgroup/app/inner/memory.current": "600000\n",
        "/sys/fs/cgroup/app/inner/memory.stat": "anon 1\ninactive_file 200000\n",
        "/sys/fs/cgroup/app/memory.max": "max\n",
        "/sys/fs/cgroup/app/cpu.max": "150000 100000\n",
        "/sys/fs/cgroup/app/inner/cpu.max": "max 100000\n",
      },
      { memoryLimit: 1_000_000, memoryUsed: 400_000, processors: 1.5 },
    ],
    [
      "version 2 inside a container",
      {
        "/proc/self/cgroup": "0::/\n",
        "/sys/fs/cgroup/memory.max": "5000",
        "/sys/fs/cgroup/memory.current": "10",
      },
      { memoryLimit: 5000, memoryUsed: 10 },
    ],
    [
      "version 1",
      {
        "/proc/self/cgroup": "4:memory:/docker/1\n0::/\n",
        "/sys/fs/cgroup/memory/memory.limit_in_bytes": "4096",
        "/sys/fs/cgroup/memory/memory.usage_in_bytes": "1000",
        "/sys/fs/cgroup/memory/memory.stat": "total_inactive_file 100\n",
        "/sys/fs/cgroup/cpu/cpu.cfs_quota_us": "50000",
        "/sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000",
      },
      { memoryLimit: 4096, memoryUsed: 900, processors: 0.5 },
    ],
    [
      "version 1 without limits",
      {
        "/proc/self/cgroup": "4:memory:/\n",
        "/sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712",
        "/sys/fs/cgroup/memory/memory.usage_in_bytes": "1000",
        "/sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1",
        "/sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000",
      },
      {},
    ],
  ];
  for (const [name, files, expected] of cases) {
    assert.deepEqual(
      controlGroupLimits((path) => files[path] ?? ""),
      expected,
      name,
    );
  }
});

test("the platform's disk begins at the data path, made absolute", () => {
  const platform = createNodePlatform({ dataPath: "some/data" });
  assert.equal(platform.disk.root, `${process.cwd()}/some/data`);
});

test("groups of long writes gather where threads use every core, and only there", () => {
  const cores = createNodeHost().facts.threadsCount;
  const gathers = (threadsCount: number) =>
    createNodePlatform({ dataPath: "some/data", threadsCount }).disk.gather !== undefined;
  assert.equal(gathers(cores), true);
  assert.equal(gathers(cores - 1), false);
});
