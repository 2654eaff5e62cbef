import { type AddCommand, group } from "../command.ts";
import { addConsumerOffsetDelete } from "./delete.ts";
import { addConsumerOffsetGet } from "./get.ts";
import { addConsumerOffsetSet } from "./set.ts";

/** `millrace consumer-offset ...` */
export const addConsumerOffset: AddCommand = (parent, run) =>
  group(
    parent,
    { name: "consumer-offset", alias: "o", summary: "look at, store and remove offsets of consumers" },
    [addConsumerOffsetGet, addConsumerOffsetSet, addConsumerOffsetDelete],
    run,
  );
