import { setTimeout as sleep } from "node:timers/promises";
import { ErrorCode } from "@millrace/errors";
import { baseOffsetAt, batchLengthAt, FrameCursor } from "@millrace/framing";
import { decodePollMessagesReply, decodeSendMessagesReply } from "@millrace/protocol";
import { Violation } from "../oracle/violation.ts";
import { type PartitionPlace, pollBody, textBody } from "./batch-request.ts";
import type { RegisterOperation } from "./linearizability/register.ts";
import type { NodeAnswer } from "./node-connection.ts";
import { WanderingClient, type WanderingClientOptions } from "./wandering-client.ts";

const PAUSE_MAX_MS = 30;
/** Messages looked at in one poll for the last write before a mark. */
const LOOK_BACK = 50;
const MARK = "mark";

/** What a client of the register needs. */
export interface RegisterClientOptions extends WanderingClientOptions {
  /** The partition that is the register. */
  readonly place: PartitionPlace;
  /** Gives out values, each once, from 1 on. */
  readonly nextValue: () => number;
}

/** An acknowledged send: its offset, and when the answer came. */
interface Placed {
  readonly offset: number;
  readonly answeredMs: number;
}

/**
 * Uses a partition as a register. A write is a message with the value; a read is a message too, a mark, and
 * finds the last value in front of it on the node that acknowledged it.
 *
 * Nothing is sent twice: a write without an answer may take effect at any time, or never.
 */
export class RegisterClient {
  /** What it did and found, in the order of its calls. */
  readonly history: RegisterOperation[] = [];
  readonly #options: RegisterClientOptions;
  readonly #wandering: WanderingClient;
  #number = 0n;
  #isStopWanted = false;

  constructor(options: RegisterClientOptions) {
    this.#options = options;
    this.#wandering = new WanderingClient(options);
  }

  /** Ends `work` behind the operation that is under way. */
  stop(): void {
    this.#isStopWanted = true;
  }

  /** Writes and reads until `stop`. Throws Violation. */
  async work(): Promise<void> {
    const { random } = this.#options;
    while (!this.#isStopWanted) {
      if (random.below(2) === 0) await this.#write();
      else await this.#read();
      await sleep(random.below(PAUSE_MAX_MS));
    }
    this.#wandering.close();
  }

  async #write(): Promise<void> {
    const value = this.#options.nextValue();
    const action = { kind: "write", value } as const;
    const callMs = performance.now();
    const placed = await this.#send(String(value));
    if (placed === "refused") return;
    const returnMs = placed === undefined ? Number.POSITIVE_INFINITY : placed.answeredMs;
    this.history.push({ action, callMs, returnMs });
  }

  async #read(): Promise<void> {
    const callMs = performance.now();
    const placed = await this.#send(MARK);
    if (placed === undefined || placed === "refused") return;
    const value = await this.#valueBefore(placed.offset);
    if (value === undefined) return;
    this.history.push({ action: { kind: "read", value }, callMs, returnMs: placed.answeredMs });
  }

  /** Sends one message, once. `refused` when it certainly never takes effect, nothing when that is open. */
  async #send(text: string): Promise<Placed | "refused" | undefined> {
    const connection = await this.#wandering.connected();
    if (!connection.isOpen) {
      this.#wandering.toNextNode();
      return "refused";
    }
    this.#number += 1n;
    const { place, client } = this.#options;
    const body = textBody(place, text, (client << 64n) | this.#number);
    const answer = await connection.command("SendMessages", body, this.#number);
    if (answer?.code === 0) return placeOf(answer);
    this.#wandering.toNextNode();
    if (answer?.code === ErrorCode.TransientNotAccepted) return "refused";
    if (answer === undefined || answer.code === ErrorCode.TransientNotCommitted) return undefined;
    throw new Violation("answer", `a send to the register was answered with ${answer.code}`);
  }

  /** The last value in front of an offset, 0 where there is none; nothing when the node cannot be asked. */
  async #valueBefore(offset: number): Promise<number | undefined> {
    const { place } = this.#options;
    for (let end = offset; end > 0; ) {
      const first = Math.max(0, end - LOOK_BACK);
      const strategy = { kind: "offset", offset: BigInt(first) } as const;
      const answer = await this.#wandering.connection?.command(
        "PollMessages",
        pollBody(place, strategy, end - first),
        this.#number,
      );
      if (answer?.code !== 0) {
        this.#wandering.toNextNode();
        return undefined;
      }
      const texts = textsOf(answer.payload).filter((message) => message.offset < end);
      if (texts.length !== end - first)
        throw new Violation(
          "answer",
          `the register does not show ${first}..${end - 1}, before an own message`,
        );
      const last = texts.findLast(({ text }) => text !== MARK);
      if (last !== undefined) return Number(last.text);
      end = first;
    }
    return 0;
  }
}

function placeOf({ payload }: NodeAnswer): Placed {
  const answeredMs = performance.now();
  const [confirmation] = decodeSendMessagesReply(payload);
  if (confirmation === undefined)
    throw new Violation("answer", "a message of the register that was sent once is taken for a repetition");
  return { offset: confirmation.baseOffset, answeredMs };
}

/** Offset and text of each message of a PollMessages answer. */
function textsOf(payload: Uint8Array): { readonly offset: number; readonly text: string }[] {
  const { batches } = decodePollMessagesReply(payload);
  const view = new DataView(batches.buffer, batches.byteOffset, batches.byteLength);
  const texts: { offset: number; text: string }[] = [];
  for (let position = 0; position < batches.length; position += batchLengthAt(view, position)) {
    const frame = new FrameCursor(batches, position);
    const baseOffset = baseOffsetAt(view, position);
    while (frame.next()) {
      texts.push({ offset: baseOffset + frame.offsetDelta, text: new TextDecoder().decode(frame.payload) });
    }
  }
  return texts;
}
