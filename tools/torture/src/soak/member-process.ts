import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const PROGRAM = fileURLToPath(new URL("member-program.ts", import.meta.url));

/** What a member is told: to finish what it has, leave and end, or to lose its connections as they are. */
export type MemberOrder = "leave" | "destroy-sockets";

/** A group member in a process of its own. */
export class MemberProcess {
  readonly #child: ChildProcess;
  readonly exited: Promise<unknown>;
  isFrozen = false;
  /** True from its first share on. */
  hasJoined = false;

  /** @param onHandled  called for each message it handles */
  constructor(address: string, onHandled: (partitionId: number, offset: number) => void) {
    this.#child = fork(PROGRAM, [address], { stdio: ["ignore", "inherit", "inherit", "ipc"] });
    this.#child.on("message", (told: "joined" | [number, number]) => {
      if (told === "joined") this.hasJoined = true;
      else onHandled(...told);
    });
    this.exited = once(this.#child, "exit");
  }

  get isAlive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Lets it finish what it has, leave and end. */
  leave(): void {
    this.#tell("leave");
  }

  /** Its sockets are destroyed under it; it comes back by itself. */
  destroySockets(): void {
    this.#tell("destroy-sockets");
  }

  crash(): void {
    this.#child.kill("SIGKILL");
  }

  freeze(): void {
    this.isFrozen = true;
    this.#child.kill("SIGSTOP");
  }

  thaw(): void {
    this.isFrozen = false;
    this.#child.kill("SIGCONT");
  }

  #tell(order: MemberOrder): void {
    if (this.#child.connected) this.#child.send(order);
  }
}
