/** What the metadata group is asked to agree on, for a client or for the server itself. */
export interface MetadataRequest {
  /** Client id; `SERVER_CLIENT` of vsr for what the server does of its own accord. */
  readonly client: bigint;
  readonly session: number;
  readonly request: bigint;
  readonly operation: number;
  readonly user: number;
  /** Owned by the plane from here on: never written again. */
  readonly body: Uint8Array;
  /** Checksum the client gave for its body, 0n for none. */
  readonly bodyChecksum: bigint;
  /**
   * False once nobody waits for what becomes of it: while it has no number it is dropped, and answered with
   * 58. Left out: it is wanted whoever waits.
   */
  isWanted?(): boolean;
  /** Called once. */
  answered(answer: MetadataAnswer): void;
}

/** How a request to the metadata group ended. */
export type MetadataAnswer =
  /** Committed, now or earlier: the reply as it stands in the client table. */
  | {
      readonly kind: "reply";
      /** True when the op was executed before and this is the stored reply. */
      readonly isRepeated: boolean;
      readonly op: number;
      readonly view: number;
      readonly commit: number;
      readonly timestamp: number;
      readonly operation: number;
      readonly body: Uint8Array;
    }
  | { readonly kind: "refused"; readonly code: number }
  | { readonly kind: "evicted"; readonly reason: number };
