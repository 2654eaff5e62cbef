import { CodedError, ErrorCode } from "@millrace/errors";

/**
 * Why a connection between replicas does not come about. `status` is what the acceptor tells the dialer in
 * its challenge; reasons without one are told to nobody, for whoever is on the other side has proved
 * nothing.
 */
const REFUSALS = {
  other_cluster: { status: 1, text: "the cluster names of both differ" },
  not_in_roster: { status: 2, text: "the dialer's replica id is not in the roster" },
  other_replica: { status: 3, text: "another replica was meant: the rosters give its address to two ids" },
  wrong_direction: { status: 4, text: "a replica dials those with higher ids only" },
  already_connected: { status: 5, text: "a process with the same replica id is connected already" },
  other_security: { status: 6, text: "only one of both uses cluster.auth, or cluster.tls" },
  other_roster: { status: 7, text: "the rosters of both have different lengths" },
  other_encryption: {
    status: 8,
    text: "only one of both encrypts its messages at rest: set encryption.enabled alike on all nodes",
  },
  other_key: {
    status: 9,
    text: "both encrypt their messages at rest, with different keys: set encryption.key alike on all nodes",
  },
  unproven: { status: undefined, text: "the other side does not know the shared secret" },
  client: { status: undefined, text: "a client's request came; clients connect to the other ports" },
  no_replica: { status: undefined, text: "what came is no handshake of a replica" },
  too_many: { status: undefined, text: "too many handshakes are under way" },
  too_slow: { status: undefined, text: "the handshake took too long" },
  other_channel: { status: undefined, text: "the TLS handshake failed, or was not for replicas" },
} as const satisfies Record<string, { readonly status: number | undefined; readonly text: string }>;

/** Name of a reason, as it stands in the details of the error. */
export type RefusalReason = keyof typeof REFUSALS;

/** All reasons, in the order of their status. */
export const REFUSAL_REASONS = Object.keys(REFUSALS) as readonly RefusalReason[];

/** The status of a challenge that accepts. */
export const ACCEPTED = 0;

/**
 * ReplicaRefused with `details.reason`.
 *
 * @param details  ids of replicas; never secrets or what proves them
 */
export function refusal(
  reason: RefusalReason,
  details: Readonly<Record<string, unknown>> = {},
  cause?: unknown,
): CodedError {
  const text = `A connection between replicas was refused: ${REFUSALS[reason].text}.`;
  return new CodedError(ErrorCode.ReplicaRefused, text, {
    details: { reason, ...details },
    ...(cause === undefined ? {} : { cause }),
  });
}

/** The status that tells a dialer the reason; undefined when it is told nothing. */
export function statusOf(reason: RefusalReason): number | undefined {
  return REFUSALS[reason].status;
}

/** The reason a status tells; undefined for one of a later version. */
export function reasonOfStatus(status: number): RefusalReason | undefined {
  return REFUSAL_REASONS.find((reason) => REFUSALS[reason].status === status);
}
