import { CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import type { Clock, Timer } from "@millrace/platform";
import type { ClusterMetadata, ClusterNode } from "@millrace/protocol";
import { formatServerAddress, type ServerAddress } from "../server-address.ts";
import { saysWhyNobody } from "./without-login.ts";

/** A login that takes longer than this is asked about, again and again: an election is over by then. */
const ASK_AFTER_MS = 3000;
/** A node that says why it logs nobody in is asked once more, sooner: it may be about to be taken in. */
const ASK_AGAIN_MS = 1500;

/** What a watch works with. */
export interface LoginWatchOptions {
  readonly clock: Clock;
  readonly address: ServerAddress;
  /** Asks the node for its roster on a way of its own; the login may be stuck. */
  readonly askRoster: () => Promise<ClusterMetadata>;
  /** Ends the login with an error. */
  readonly giveUp: (error: CodedError) => void;
}

/**
 * Looks after a login that does not come to an end: a node without a majority, or one that its cluster has
 * not taken in, accepts the connection and can log nobody in. Once its roster lacks a majority, or the node
 * says twice why it logs nobody in, the login ends, and its error says so. A node that is busy, or that
 * elects, says no such thing: then the login has its own time.
 */
export class LoginWatch {
  readonly #options: LoginWatchOptions;
  #timer: Timer | undefined;
  #isStopped = false;
  #whyNobody: CodedError | undefined;

  constructor(options: LoginWatchOptions) {
    this.#options = options;
    this.#later(ASK_AFTER_MS);
  }

  /** Nothing is asked any more. */
  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
  }

  /** The error that tells more than a login's time-out, where something was learnt. */
  explained(error: unknown): unknown {
    return isCodedError(error, ErrorCode.RequestTimeout) ? (this.#whyNobody ?? error) : error;
  }

  #later(delayMs: number): void {
    this.#timer = this.#options.clock.setTimer(delayMs, () => void this.#ask());
  }

  /** Never rejects: what the node does not tell leaves the login to its own time. */
  async #ask(): Promise<void> {
    const { address, askRoster, giveUp } = this.#options;
    const before = this.#whyNobody;
    this.#whyNobody = undefined;
    const roster = await askRoster().catch((error: unknown) => {
      if (saysWhyNobody(error)) this.#whyNobody = error;
      return undefined;
    });
    if (this.#isStopped) return;
    const error = (roster && noMajority(address, roster)) ?? (before && this.#whyNobody);
    if (error !== undefined) giveUp(error);
    else this.#later(this.#whyNobody === undefined ? ASK_AFTER_MS : ASK_AGAIN_MS);
  }
}

/** Why a node logs nobody in, by what it says of its cluster; nothing while it reaches a majority. */
export function noMajority(address: ServerAddress, { nodes }: ClusterMetadata): CodedError | undefined {
  const majority = Math.floor(nodes.length / 2) + 1;
  const missing = nodes.filter(({ status }) => status !== "healthy");
  const reached = nodes.length - missing.length;
  if (reached >= majority) return undefined;
  const message =
    `The node ${formatServerAddress(address)} answers, and can log nobody in: of the ${nodes.length} nodes of its ` +
    `cluster it reaches ${reached}, itself among them, and a login takes ${majority}. ` +
    `It does not reach ${missing.map(nameOf).join(", ")}.`;
  const next =
    "Start those nodes, or mend the network between them. What this one knows: millrace cluster status";
  return new CodedError(ErrorCode.TransientNotAccepted, message, { details: { reached, majority, next } });
}

/** True when a login came to no end, so that the same node may take it later; false when it said why not. */
export function mayPass(error: unknown): boolean {
  return isCodedError(error, ErrorCode.RequestTimeout);
}

function nameOf({ name, ip, tcpPort }: ClusterNode): string {
  return `${name} (${ip}:${tcpPort})`;
}
