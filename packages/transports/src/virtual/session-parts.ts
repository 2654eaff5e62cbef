import type { BlockPool, ChecksumKernel } from "@millrace/framing";
import type { Clock, Connection, Random, TransportKind } from "@millrace/platform";
import { SharedSpace } from "../assembly/message-space.ts";
import { AnswerRoom } from "./answer-room.ts";
import { PARTITION_PATIENCE_MS, type SessionParts } from "./command-session.ts";
import { Deadlines } from "./deadlines.ts";
import { DeliveryTurn } from "./delivery-turn.ts";
import { RandomIds } from "./random-ids.ts";
import type { SessionFailures } from "./session-failures.ts";
import { WriteSlots } from "./write-slots.ts";

/** What a listener has that serves commands without being sent the bytes of the binary protocol. */
export interface SessionPartsOptions {
  /** The broker: it gets one connection per logged-in client. */
  readonly onConnection: (connection: Connection) => void;
  /** The kernel of the broker and the pool cut from its memory: batches are written and sealed in place. */
  readonly kernel: ChecksumKernel;
  readonly leases: BlockPool;
  readonly clock: Clock;
  readonly random: Random;
  readonly failures: SessionFailures;
  readonly transport: TransportKind;
  /** Name under which the broker knows such clients. */
  readonly sdkName: string;
}

/** The parts of all sessions of one listener, and the space whose block is released when it closes. */
export function sessionParts(options: SessionPartsOptions): {
  readonly parts: SessionParts;
  readonly space: SharedSpace;
} {
  const { clock, random, kernel, onConnection, failures, transport, sdkName } = options;
  const space = new SharedSpace(options.leases);
  const parts = {
    clock,
    random,
    onConnection,
    failures,
    transport,
    sdkName,
    room: { kernel, space, ids: new RandomIds(random) },
    answers: new AnswerRoom(),
    turn: new DeliveryTurn(),
    deadlines: new Deadlines(clock, PARTITION_PATIENCE_MS),
    writeSlots: new WriteSlots(),
  };
  return { parts, space };
}
