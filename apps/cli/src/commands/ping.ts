import { setTimeout as sleep } from "node:timers/promises";
import { parseCount } from "../formats/whole-number.ts";
import { sentence } from "../output/result.ts";
import { type AddCommand, leaf } from "./command.ts";

/** Pause between two pings, so that many of them show how the time varies. */
const PING_PAUSE_MS = 100;

/** `millrace ping`. It needs no credentials. */
export const addPing: AddCommand = (parent, run) => {
  leaf(parent, { name: "ping", summary: "measure how fast the server answers" })
    .option("-c, --count <n>", "how many times", parseCount, 1)
    .action(
      run(async ({ world, output, server }, { count }: { count: number }) => {
        const pinger = await world.openPinger(server());
        const times: number[] = [];
        try {
          for (let sequence = 1; sequence <= count; sequence++) {
            if (sequence > 1) await sleep(PING_PAUSE_MS);
            const started = world.elapsedMs();
            await pinger.ping();
            times.push(world.elapsedMs() - started);
            output.line(`Ping sequence id: ${sequence} time: ${times.at(-1)?.toFixed(2)} ms`);
          }
        } finally {
          await pinger.close();
        }
        return statistics(times);
      }),
    );
};

function statistics(times: readonly number[]) {
  const min = Math.min(...times);
  const max = Math.max(...times);
  const average = times.reduce((sum, time) => sum + time, 0) / times.length;
  const text = [min, average, max].map((time) => time.toFixed(2)).join("/");
  return sentence(`${times.length} answered, min/avg/max = ${text} ms`, {
    times_ms: times.map(roundMs),
    min_ms: roundMs(min),
    avg_ms: roundMs(average),
    max_ms: roundMs(max),
  });
}

function roundMs(time: number): number {
  return Math.round(time * 1_000) / 1_000;
}
