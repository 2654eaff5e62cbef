import type { ShownMessage } from "../../connection/client.ts";
import type { MessageFilter } from "../../formats/message-filter.ts";
import type { Output } from "../../output/output.ts";
import { MESSAGE_FIELDS, MESSAGE_JSON_FIELDS, PARTITION_FIELD } from "./fields.ts";

/** Prints the messages of a tail that its filters want, up to a count. */
export class TailPrinter {
  readonly #print: (message: ShownMessage) => void;
  readonly #filters: readonly MessageFilter[];
  readonly #output: Output;
  #left: number;

  /** @param count  messages to print; no limit when undefined */
  constructor(output: Output, filters: readonly MessageFilter[], count: number | undefined) {
    const fields = output.mode === "json" ? MESSAGE_JSON_FIELDS : [PARTITION_FIELD, ...MESSAGE_FIELDS];
    this.#print = output.rowStream(fields, [9, 10, 30, 39, 6]);
    this.#output = output;
    this.#filters = filters;
    this.#left = count ?? Number.POSITIVE_INFINITY;
  }

  /** True when everything that was asked for is printed. */
  get isDone(): boolean {
    return this.#left <= 0;
  }

  /** Prints what is wanted of some messages, and waits until the reader of stdout has room again. */
  async print(messages: readonly ShownMessage[]): Promise<void> {
    for (const message of messages) {
      if (this.isDone) break;
      if (!this.#filters.every((filter) => filter(message))) continue;
      this.#print(message);
      this.#left -= 1;
    }
    await this.#output.drained();
  }
}
