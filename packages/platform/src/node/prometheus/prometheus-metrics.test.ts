import assert from "node:assert/strict";
import { test } from "node:test";
import { createPrometheusMetrics } from "./prometheus-metrics.ts";

test("Counters add up, gauges are read when the text is made, and both bring their help.", async () => {
  const metrics = createPrometheusMetrics();
  const counter = metrics.counter("requests_total", "Requests received");
  let streams = 1;
  metrics.gauge("streams", "Streams", () => streams);
  counter.add(2);
  counter.add(3);
  streams = 7;
  const text = await metrics.text();
  assert.match(
    text,
    /^# HELP requests_total Requests received\n# TYPE requests_total counter\nrequests_total 5$/m,
  );
  assert.match(text, /^# TYPE streams gauge\nstreams 7$/m);
  assert.match(await metrics.text(), /^requests_total 5$/m, "read once more");
  counter.add(1);
  assert.match(await metrics.text(), /^requests_total 6$/m);
  assert.match(metrics.contentType, /^text\/plain; version=0\.0\.4/);
});

test("Two parts have registries of their own, and one name cannot be declared twice.", async () => {
  const one = createPrometheusMetrics();
  const other = createPrometheusMetrics();
  one.counter("a_total", "A").add(1);
  other.counter("a_total", "A");
  assert.match(await other.text(), /^a_total 0$/m);
  assert.throws(() => one.counter("a_total", "A"), /a_total/);
});

test("Counters of one name are told apart by their labels; the same ones cannot be declared twice.", async () => {
  const metrics = createPrometheusMetrics();
  metrics.counter("dropped_total", "Dropped", { reason: "full" }).add(2);
  metrics.counter("dropped_total", "Dropped", { reason: "down" }).add(3);
  const text = await metrics.text();
  assert.match(text, /^dropped_total\{reason="full"\} 2$/m);
  assert.match(text, /^dropped_total\{reason="down"\} 3$/m);
  assert.throws(() => metrics.counter("dropped_total", "Dropped", { reason: "down" }), /dropped_total/);
});

test("A counter with labels shows them, from 0 on.", async () => {
  const metrics = createPrometheusMetrics();
  const counter = metrics.counter("removed_total", "Removed", { shard: "0" });
  assert.match(await metrics.text(), /^removed_total\{shard="0"\} 0$/m);
  counter.add(2);
  assert.match(await metrics.text(), /^removed_total\{shard="0"\} 2$/m);
});
