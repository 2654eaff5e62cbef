import { type AddCommand, group } from "../command.ts";
import { addSegmentDelete } from "./delete.ts";

/** `millrace segment ...` */
export const addSegment: AddCommand = (parent, run) =>
  group(
    parent,
    { name: "segment", alias: "seg", summary: "remove the oldest segments of a partition" },
    [addSegmentDelete],
    run,
  );
