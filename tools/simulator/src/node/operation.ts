/** Operation codes of the simulator's state machine; 1 and 3 are the group's own. */
export const Operation = { append: 160 } as const;

/** Body of every request: which message is appended. Never written after it was made. */
export interface AppendBody {
  readonly message: number;
}
