import assert from "node:assert/strict";
import { test } from "node:test";
import { lineChart } from "./line-chart.ts";

const NAMES = { title: 'a < b & "c"', xTitle: "x", yTitle: "y" };

test("texts are escaped and every point is inside the picture", () => {
  const points = Array.from({ length: 50 }, (_, x) => ({ x, y: (x * 37) % 11 }));
  const chart = lineChart({ ...NAMES, lines: [{ name: "<i>", points }] });
  assert.ok(chart.includes("<title>a &lt; b &amp; &quot;c&quot;</title>"));
  assert.ok(chart.includes("&lt;i&gt;"));
  const drawn = /points="([^"]+)"/.exec(chart)?.[1]?.split(" ") ?? [];
  assert.equal(drawn.length, 50);
  for (const point of drawn) {
    const [x = -1, y = -1] = point.split(",").map(Number);
    assert.ok(x >= 0 && x <= 860 && y >= 0 && y <= 300, point);
  }
});

test("a chart of nothing, of one point and of equal points has numbers everywhere", () => {
  for (const points of [
    [],
    [{ x: 3, y: 0 }],
    [
      { x: 1, y: 5 },
      { x: 1, y: 5 },
    ],
  ]) {
    assert.doesNotMatch(lineChart({ ...NAMES, lines: [{ name: "a", points }] }), /NaN|Infinity/);
  }
});
