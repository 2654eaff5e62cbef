import assert from "node:assert/strict";
import { test } from "node:test";
import { ThroughputSeries } from "./throughput-series.ts";

test("a steady flow is a flat line, in a bounded number of points, however long it lasts", () => {
  for (const seconds of [1, 10, 100, 1_000]) {
    const series = new ThroughputSeries();
    for (let ms = 1; ms <= seconds * 1_000; ms += 1) series.record(ms, 1_000);
    const points = series.points();
    assert.ok(points.length > 10 && points.length <= 120, `${points.length} points`);
    for (const { bytesPerSecond } of points.slice(1, -1)) {
      assert.ok(Math.abs(bytesPerSecond - 1e6) < 1e6 / 25, `${seconds} s: ${bytesPerSecond}`);
    }
    assert.ok(points.every(({ atMs }, index) => index === 0 || atMs > (points[index - 1]?.atMs ?? 0)));
  }
});

test("a pause is seen as one", () => {
  const series = new ThroughputSeries();
  series.record(10, 500);
  series.record(410, 500);
  const speeds = series.points().map(({ bytesPerSecond }) => bytesPerSecond);
  assert.equal(speeds[0], 10_000);
  assert.deepEqual(speeds.slice(1, -1), [0, 0, 0, 0, 0, 0, 0]);
});
