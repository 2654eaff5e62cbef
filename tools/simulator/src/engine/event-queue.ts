interface Event {
  readonly atMicros: number;
  readonly order: number;
  readonly act: () => void;
}

/**
 * Virtual time: what is due happens in order of time, and in the order it was scheduled where times are
 * equal. A binary heap; nothing here looks at a real clock.
 */
export class EventQueue {
  nowMicros = 0;
  readonly #heap: Event[] = [];
  #order = 0;

  /** Has `act` done after a delay in whole or broken microseconds; below 0 counts as 0. */
  after(delayMicros: number, act: () => void): void {
    this.at(this.nowMicros + Math.max(0, Math.round(delayMicros)), act);
  }

  /** Has `act` done at a time; a time that is over counts as now. */
  at(atMicros: number, act: () => void): void {
    this.#order += 1;
    this.#push({ atMicros: Math.max(this.nowMicros, Math.round(atMicros)), order: this.#order, act });
  }

  /** Does everything that is due up to and including `untilMicros`; it is that time afterwards. */
  runUntil(untilMicros: number): void {
    for (let next = this.#heap[0]; next !== undefined && next.atMicros <= untilMicros; next = this.#heap[0]) {
      this.#pop();
      this.nowMicros = next.atMicros;
      next.act();
    }
    this.nowMicros = untilMicros;
  }

  #push(event: Event): void {
    const heap = this.#heap;
    let index = heap.length;
    heap.push(event);
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!isBefore(event, heap[parent] as Event)) break;
      heap[index] = heap[parent] as Event;
      index = parent;
    }
    heap[index] = event;
  }

  #pop(): void {
    const heap = this.#heap;
    const moved = heap.pop() as Event;
    const count = heap.length;
    if (count === 0) return;
    let index = 0;
    for (let child = 1; child < count; child = 2 * index + 1) {
      const isRight = child + 1 < count && isBefore(heap[child + 1] as Event, heap[child] as Event);
      const least = isRight ? child + 1 : child;
      if (!isBefore(heap[least] as Event, moved)) break;
      heap[index] = heap[least] as Event;
      index = least;
    }
    heap[index] = moved;
  }
}

function isBefore(one: Event, other: Event): boolean {
  return one.atMicros < other.atMicros || (one.atMicros === other.atMicros && one.order < other.order);
}
