import assert from "node:assert/strict";
import { test } from "node:test";
import { Chance } from "../engine/chance.ts";
import { EventQueue } from "../engine/event-queue.ts";
import { type NetworkPlan, SimNetwork } from "./sim-network.ts";

const CALM: NetworkPlan = {
  delayMinMicros: 100,
  delayMeanMicros: 500,
  loss: 0,
  repeat: 0,
  late: 0,
  lateMaxMicros: 0,
  isOrdered: false,
};

/** Arrivals of 400 packets that are sent one after the other, 10 microseconds apart. */
function arrivalsOf(plan: NetworkPlan): { packet: number; delay: number }[] {
  const queue = new EventQueue();
  const network = new SimNetwork(queue, new Chance(3), plan);
  const arrivals: { packet: number; delay: number }[] = [];
  for (let packet = 0; packet < 400; packet += 1) {
    const sentMicros = packet * 10;
    queue.at(sentMicros, () =>
      network.send(0, 1, () => arrivals.push({ packet, delay: queue.nowMicros - sentMicros })),
    );
  }
  queue.runUntil(10_000_000);
  return arrivals;
}

function isSorted(arrivals: { packet: number }[]): boolean {
  return arrivals.every(({ packet }, index) => index === 0 || packet >= (arrivals[index - 1]?.packet ?? 0));
}

test("a calm network delivers everything once, late enough, in some order; an ordered one keeps the order", () => {
  const arrivals = arrivalsOf(CALM);
  assert.equal(arrivals.length, 400);
  assert.ok(arrivals.every(({ delay }) => delay >= 100));
  assert.ok(!isSorted(arrivals));
  assert.ok(isSorted(arrivalsOf({ ...CALM, isOrdered: true })));
});

test("packets are lost, repeated and late as often as the plan says", () => {
  const lossy = arrivalsOf({ ...CALM, loss: 0.25 }).length;
  assert.ok(lossy > 260 && lossy < 340, `${lossy} arrived`);
  const repeated = arrivalsOf({ ...CALM, repeat: 0.5 }).length;
  assert.ok(repeated > 540 && repeated < 660, `${repeated} arrived`);
  const late = arrivalsOf({ ...CALM, late: 0.5, lateMaxMicros: 1_000_000 });
  assert.ok(late.filter(({ delay }) => delay > 20_000).length > 150);
});

test("a cut link carries nothing, in its direction only, and loses what was on its way", () => {
  const queue = new EventQueue();
  const network = new SimNetwork(queue, new Chance(3), CALM);
  const seen: string[] = [];
  network.send(0, 1, () => seen.push("on its way"));
  network.cut(0, 1, true);
  network.send(0, 1, () => seen.push("cut"));
  network.send(1, 0, () => seen.push("back"));
  queue.runUntil(1_000_000);
  network.cut(0, 1, false);
  network.send(0, 1, () => seen.push("joined"));
  queue.runUntil(2_000_000);
  assert.deepEqual(seen, ["back", "joined"]);
});
