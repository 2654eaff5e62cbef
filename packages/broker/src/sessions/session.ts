import type { UnsureSends } from "../routing/unsure-sends.ts";

/** Who is logged in on a connection: the client id and the user a Register was committed for. */
export interface Session {
  /** Client id, u128, chosen by the client. */
  readonly client: bigint;
  /**
   * Op at which its Register committed; the fence: a later Register of the same id makes this one too low.
   */
  readonly session: number;
  readonly user: number;
  /** Digest of the token with which it ends, see `Connection.endsWithToken`. */
  readonly token?: string | undefined;
  /** Set when a later Register of the same client id committed on another connection. */
  isFenced: boolean;
  /**
   * The session of a consumer for which this one polls and commits, on the node that leads a partition: a
   * client's program has both.
   */
  attachedTo?: Pick<Session, "client" | "session">;
  /** The client's library gives each write a number of its own, see `countsRequests`. */
  readonly countsRequests: boolean;
  /**
   * Numbers from this on are new, not repetitions of what an earlier connection sent. A login of this
   * project's client tells it, see `nextRequestOf`; of an older one it is not known at first.
   */
  repeatsBelow?: bigint;
  /** Where its sends went that were answered with 57; absent while there is none. */
  unsureSends?: UnsureSends;
}
