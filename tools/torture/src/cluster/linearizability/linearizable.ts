/** One operation of a history. Times are of one clock; only their order counts. */
export interface TimedOperation<Action> {
  readonly action: Action;
  /** When it was called. */
  readonly callMs: number;
  /** When it answered; infinity while its outcome is unknown: it may take effect at any time, or never. */
  readonly returnMs: number;
}

/** What operations do to a state: the state behind one, or nothing when it cannot take effect then. */
export interface Model<State, Action> {
  readonly initial: State;
  step(state: State, action: Action): State | undefined;
  /** A text that is the same for two states exactly when they are the same. */
  keyOf(state: State): string;
}

/** A call or a return, in a list ordered by time out of which operations that took effect are taken. */
interface Entry {
  readonly operation: number;
  readonly isCall: boolean;
  previous: Entry | undefined;
  next: Entry | undefined;
}

/** An operation that took effect, and the state before it. */
interface Taken<State> {
  readonly call: Entry;
  readonly stateBefore: State;
}

/**
 * True when the operations can be put in an order in which each takes effect between its call and its answer.
 *
 * A search in depth over which operation takes effect next, from the algorithm of Wing and Gong ("Testing and
 * verifying concurrent objects", 1993) with Lowe's memory ("Testing for linearizability", 2017): a set of
 * operations that took effect together with the state they left is tried once.
 */
export function isLinearizable<State, Action>(
  operations: readonly TimedOperation<Action>[],
  model: Model<State, Action>,
): boolean {
  const search = new Search(operations, model);
  return search.run();
}

class Search<State, Action> {
  readonly #operations: readonly TimedOperation<Action>[];
  readonly #model: Model<State, Action>;
  /** In front of the first entry of the list. */
  readonly #head: Entry = { operation: -1, isCall: true, previous: undefined, next: undefined };
  readonly #returnOf: (Entry | undefined)[] = [];
  readonly #tried = new Set<string>();
  readonly #taken: Taken<State>[] = [];
  readonly #effective = new EffectiveSet();
  #state: State;
  /** Operations that answered and have not taken effect. */
  #left: number;

  constructor(operations: readonly TimedOperation<Action>[], model: Model<State, Action>) {
    this.#operations = operations;
    this.#model = model;
    this.#state = model.initial;
    this.#left = operations.filter(({ returnMs }) => returnMs < Number.POSITIVE_INFINITY).length;
    let last = this.#head;
    for (const entry of entriesOf(operations)) {
      if (!entry.isCall) this.#returnOf[entry.operation] = entry;
      entry.previous = last;
      last.next = entry;
      last = entry;
    }
  }

  run(): boolean {
    let entry = this.#head.next;
    while (this.#left > 0) {
      if (entry?.isCall === true) entry = this.#take(entry) ? this.#head.next : entry.next;
      else {
        // Behind an answer nothing may take effect before the operation that was answered.
        const taken = this.#taken.pop();
        if (taken === undefined) return false;
        this.#giveBack(taken);
        entry = taken.call.next;
      }
    }
    return true;
  }

  /** Lets an operation take effect now, unless it cannot or what follows was tried before. */
  #take(call: Entry): boolean {
    const { operation } = call;
    const stateBefore = this.#state;
    const state = this.#model.step(
      stateBefore,
      (this.#operations[operation] as TimedOperation<Action>).action,
    );
    if (state === undefined) return false;
    this.#effective.add(operation);
    const key = `${this.#effective.key} ${this.#model.keyOf(state)}`;
    if (this.#tried.has(key)) {
      this.#effective.delete(operation);
      return false;
    }
    this.#tried.add(key);
    this.#state = state;
    this.#taken.push({ call, stateBefore });
    unlink(call);
    const answer = this.#returnOf[operation];
    if (answer !== undefined) {
      unlink(answer);
      this.#left -= 1;
    }
    return true;
  }

  #giveBack({ call, stateBefore }: Taken<State>): void {
    const { operation } = call;
    const answer = this.#returnOf[operation];
    if (answer !== undefined) {
      link(answer);
      this.#left += 1;
    }
    link(call);
    this.#effective.delete(operation);
    this.#state = stateBefore;
  }
}

/** Operations by their number in the order of calls. All below a floor are in it, so its key stays short. */
class EffectiveSet {
  #floor = 0;
  readonly #above = new Set<number>();

  add(operation: number): void {
    this.#above.add(operation);
    while (this.#above.delete(this.#floor)) this.#floor += 1;
  }

  delete(operation: number): void {
    while (this.#floor > operation) {
      this.#floor -= 1;
      this.#above.add(this.#floor);
    }
    this.#above.delete(operation);
  }

  get key(): string {
    return `${this.#floor}:${[...this.#above].sort((one, other) => one - other).join(",")}`;
  }
}

/** Calls and answers in order of time; at one moment calls come first, so that both sides may overlap. */
function entriesOf(operations: readonly TimedOperation<unknown>[]): Entry[] {
  const moments = operations.flatMap(({ callMs, returnMs }, operation) => {
    const call = { operation, isCall: true, ms: callMs };
    return returnMs === Number.POSITIVE_INFINITY
      ? [call]
      : [call, { operation, isCall: false, ms: returnMs }];
  });
  moments.sort((one, other) => one.ms - other.ms || Number(other.isCall) - Number(one.isCall));
  return moments.map(({ operation, isCall }) => ({
    operation,
    isCall,
    previous: undefined,
    next: undefined,
  }));
}

function unlink({ previous, next }: Entry): void {
  if (previous !== undefined) previous.next = next;
  if (next !== undefined) next.previous = previous;
}

function link(entry: Entry): void {
  if (entry.previous !== undefined) entry.previous.next = entry;
  if (entry.next !== undefined) entry.next.previous = entry;
}
