import type { Clock } from "./clock.ts";

/**
 * The same clock, read once an event at most: all that is done in one event happens at one time.
 *
 * For the path of every request: asking the system for both times takes some 160 ns, as long as copying ten
 * messages. Nothing that measures how long an event takes may use it.
 */
export function clockOfEvents(clock: Clock): Clock {
  let isRead = false;
  let wallMicros = 0;
  let monotonicMs = 0;
  const forget = () => {
    isRead = false;
  };
  const read = () => {
    isRead = true;
    wallMicros = clock.wallMicros();
    monotonicMs = clock.monotonicMs();
    clock.afterEvent(forget);
  };
  return {
    wallMicros() {
      if (!isRead) read();
      return wallMicros;
    },
    monotonicMs() {
      if (!isRead) read();
      return monotonicMs;
    },
    setTimer: (delayMs, callback) => clock.setTimer(delayMs, callback),
    afterEvent: (callback) => clock.afterEvent(callback),
  };
}
