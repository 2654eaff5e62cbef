/** What a client sends to a node about one group. */
export type ClientPacket =
  | {
      readonly kind: "request";
      readonly client: bigint;
      readonly session: number;
      readonly request: bigint;
      readonly operation: number;
      readonly message: number;
    }
  | {
      readonly kind: "read";
      readonly client: bigint;
      readonly read: number;
      /** Messages the client knows to be there; a node that has fewer does not answer. */
      readonly ownEnd: number;
      readonly offset: number;
    };

/** What a node answers. A request that nothing is due for is not answered. */
export type NodePacket =
  | { readonly kind: "reply"; readonly request: bigint; readonly op: number; readonly offset: number }
  | { readonly kind: "reject"; readonly request: bigint; readonly code: 57 | 58 | 59 }
  /** The session of the request it answers is over: 1 unknown, 7 fenced by a later one, 12 another user's. */
  | { readonly kind: "evict"; readonly session: number; readonly reason: number }
  | {
      readonly kind: "read";
      readonly read: number;
      readonly nextOffset: number;
      readonly offset: number;
      readonly message: number | undefined;
    };
