import type { Output } from "@millrace/vsr";
import type { SimNode } from "../node/sim-node.ts";

/** What replicas do rarely, and right after which a crash is worth most; messages go by their own kind. */
export const AMBUSHES = [
  "doViewChange",
  "startView",
  "requestStartView",
  "viewNumber",
  "prepareGone",
  "persist-view",
  "journal-truncate",
  "request-state",
] as const;

/** One of them. */
export type AmbushKind = (typeof AMBUSHES)[number];

/** Waits for some replica to do one of these things, and strikes the first one that does. */
export class Ambush {
  #awaited: AmbushKind | undefined;
  #spring: (node: SimNode) => void = () => {};

  /** Waits anew; what was waited for before is forgotten. */
  lay(awaited: AmbushKind, spring: (node: SimNode) => void): void {
    this.#awaited = awaited;
    this.#spring = spring;
  }

  lift(): void {
    this.#awaited = undefined;
  }

  /** A replica on `node` has done this. */
  pass(output: Output, node: SimNode): void {
    if (this.#awaited === undefined) return;
    const name = output.kind === "send" ? output.message.kind : output.kind;
    if (name !== this.#awaited) return;
    this.lift();
    this.#spring(node);
  }
}
