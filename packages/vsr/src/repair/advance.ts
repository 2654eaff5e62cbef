import type { GroupState } from "../group-state.ts";
import { commitReadyOps } from "../normal/commit-ready-ops.ts";
import type { Output } from "../output.ts";
import { promote } from "../view-change/promote.ts";
import { repairFurther } from "./repair-further.ts";

/**
 * After anything that may have brought the log of a replica other than the acting primary forward: commits
 * what is ready, enters the view once its log is complete, asks for what is missing.
 */
export function advance(state: GroupState): readonly Output[] {
  return [...commitReadyOps(state), ...promote(state), ...repairFurther(state)];
}
