import type { ReplyFields } from "../output.ts";
import { type Request, SERVER_CLIENT } from "../prepare.ts";
import { decodeClientTable, encodeClientTable } from "./client-table-codec.ts";
import type { CachedReply, Session } from "./session.ts";

/**
 * Sessions a cluster holds at once; the reference's limit. Beyond it newcomers are refused, nobody is pushed
 * out.
 */
export const CLIENTS_MAX = 8192;
/** Replies kept per client; the reference's number. */
export const REPLIES_PER_CLIENT_MAX = 5;
/**
 * Bytes of reply bodies kept over all clients. 8192 clients with 5 replies of a thousand-partition topic (40
 * KiB) would be 1.6 GiB; the oldest replies go first and their retries hear "already applied".
 */
const REPLY_BYTES_MAX = 32 * 1024 * 1024;

/** What to do with a request of a registered client. */
export type Admission =
  | { readonly kind: "execute" }
  | { readonly kind: "evict"; readonly reason: 1 | 7 }
  | { readonly kind: "drop"; readonly reason: "session-unknown" | "checksum-differs" }
  | { readonly kind: "replay"; readonly reply: CachedReply }
  | { readonly kind: "already-applied" };

/** How a Register ended or would end. */
export type Registration = "registered" | "other-user" | "full";

/** Limits of a table; the defaults are those of this file. */
export interface ClientTableOptions {
  readonly capacity?: number;
  readonly replyBytesMax?: number;
}

const EXECUTE: Admission = { kind: "execute" };

/**
 * The clients a cluster knows: who they are, which request came last, what they were answered.
 *
 * Replicated state: changed only by committed ops in op order, the same on every replica and after a restore.
 * @see wire-protocol, section 5.3. Departure from the reference: a full table refuses the newcomer, it does
 * not evict the oldest; and reply bytes have a bound of their own.
 */
export class ClientTable {
  readonly capacity: number;
  readonly replyBytesMax: number;
  readonly #sessions = new Map<bigint, Session>();
  /** Client of each op whose reply is kept, oldest op first. */
  readonly #replyOrder = new Map<number, bigint>();
  #replyBytes = 0;

  constructor(options: ClientTableOptions = {}) {
    this.capacity = options.capacity ?? CLIENTS_MAX;
    this.replyBytesMax = options.replyBytesMax ?? REPLY_BYTES_MAX;
  }

  /**
   * Rebuilds a table from `encode()`.
   * @throws CodedError MetadataDamaged with the position
   */
  static decode(bytes: Uint8Array, options: ClientTableOptions = {}): ClientTable {
    const table = new ClientTable(options);
    const sessions = decodeClientTable(bytes);
    for (const session of sessions) table.#sessions.set(session.client, { ...session, replies: [] });
    const replies = sessions.flatMap((session) => session.replies);
    replies.sort((one, other) => one.op - other.op);
    for (const reply of replies) table.#keepReply(reply);
    return table;
  }

  /** Snapshot bytes, equal for equal tables whatever their history. */
  encode(): Uint8Array {
    return encodeClientTable(this.sessions());
  }

  get count(): number {
    return this.#sessions.size;
  }

  /** All sessions, by client id. */
  sessions(): Session[] {
    return [...this.#sessions.values()].sort((one, other) => (one.client < other.client ? -1 : 1));
  }

  session(client: bigint): Session | undefined {
    return this.#sessions.get(client);
  }

  /**
   * How a Register would end now if `reserved` more newcomers were already on their way.
   * The host's own id is never a client's.
   */
  registrationOf(client: bigint, user: number, reserved = 0): Registration {
    if (client === SERVER_CLIENT) return "other-user";
    const known = this.#sessions.get(client);
    if (known !== undefined) return known.user === user ? "registered" : "other-user";
    return this.#sessions.size + reserved < this.capacity ? "registered" : "full";
  }

  /** Commits a Register: a known client keeps its watermark and replies and gets a higher epoch. */
  register(client: bigint, user: number, op: number): Registration {
    const registration = this.registrationOf(client, user);
    if (registration !== "registered") return registration;
    const known = this.#sessions.get(client);
    const session: Session = known ?? { client, user, epoch: op, watermark: 0n, replies: [] };
    this.#sessions.set(client, { ...session, epoch: op });
    return "registered";
  }

  /** Applies the duplicate rules to a request, in the order of wire-protocol 5.3. Changes nothing. */
  admit(request: Pick<Request, "client" | "session" | "request" | "bodyChecksum">): Admission {
    const session = this.#currentSession(request);
    if ("kind" in session) return session;
    if (request.request > session.watermark) return EXECUTE;
    const reply = session.replies.find((one) => one.request === request.request);
    if (reply === undefined) return { kind: "already-applied" };
    const bothGiven = reply.bodyChecksum !== 0n && request.bodyChecksum !== 0n;
    if (bothGiven && reply.bodyChecksum !== request.bodyChecksum)
      return { kind: "drop", reason: "checksum-differs" };
    return { kind: "replay", reply };
  }

  /**
   * A Logout executes whatever its number: a session ends once and keeps no reply to it, so there is nothing
   * to repeat. Its host may send one when the connection is gone, without knowing the client's count. Changes
   * nothing.
   */
  admitLogout(request: Pick<Request, "client" | "session">): Admission {
    const session = this.#currentSession(request);
    return "kind" in session ? session : EXECUTE;
  }

  /** Commits an answer: raises the watermark and keeps the reply. A client that is gone keeps nothing. */
  record(reply: ReplyFields, bodyChecksum: bigint): void {
    const session = this.#sessions.get(reply.client);
    if (session === undefined) return;
    if (reply.request > session.watermark)
      this.#sessions.set(session.client, { ...session, watermark: reply.request });
    this.#keepReply({ ...reply, bodyChecksum });
  }

  /** Commits a Logout. */
  remove(client: bigint): void {
    const session = this.#sessions.get(client);
    if (session === undefined) return;
    for (const reply of session.replies) this.#forget(reply);
    this.#sessions.delete(client);
  }

  /** The client's session when the request belongs to it, or why it does not. */
  #currentSession(request: Pick<Request, "client" | "session">): Session | Admission {
    const session = this.#sessions.get(request.client);
    if (session === undefined) return { kind: "evict", reason: 1 };
    if (request.session < session.epoch) return { kind: "evict", reason: 7 };
    return request.session > session.epoch ? { kind: "drop", reason: "session-unknown" } : session;
  }

  #keepReply(reply: CachedReply): void {
    const session = this.#sessions.get(reply.client);
    if (session === undefined) return;
    const kept = [...session.replies, reply];
    if (kept.length > REPLIES_PER_CLIENT_MAX) this.#forget(kept.shift() as CachedReply);
    this.#sessions.set(session.client, { ...session, replies: kept });
    this.#replyOrder.set(reply.op, reply.client);
    this.#replyBytes += reply.body.length;
    while (this.#replyBytes > this.replyBytesMax) this.#dropOldestReply();
  }

  #dropOldestReply(): void {
    const oldest = this.#replyOrder.entries().next().value;
    if (oldest === undefined) return;
    const [op, client] = oldest;
    const session = this.#sessions.get(client) as Session;
    this.#forget(session.replies.find((reply) => reply.op === op) as CachedReply);
    this.#sessions.set(client, { ...session, replies: session.replies.filter((reply) => reply.op !== op) });
  }

  #forget(reply: CachedReply): void {
    this.#replyOrder.delete(reply.op);
    this.#replyBytes -= reply.body.length;
  }
}
