import { ReplicaCommand } from "@millrace/framing";
import type { FieldCodec } from "./field-codec.ts";
import { readList, writeList } from "./field-forms.ts";

/** Sessions in one message at most, 24 KiB of them: whoever has more connected says several messages. */
export const VOUCHED_SESSIONS_MAX = 1024;

/** A session by client and by the op of its login, below 2^53: a later login has a higher one. */
export interface VouchedSession {
  readonly client: bigint;
  readonly session: number;
}

/** These sessions are connected to the sender: it tells the primary, also when there are none. */
export interface VouchMessage {
  readonly kind: "vouch";
  readonly view: number;
  readonly replica: number;
  readonly sessions: readonly VouchedSession[];
}

/** Fields: count u32, then so many: client u128, session u64. */
export const vouchCodec: FieldCodec<VouchMessage> = {
  command: ReplicaCommand.vouch,
  write: (writer, { sessions }) =>
    writeList(writer, sessions, {
      countMax: VOUCHED_SESSIONS_MAX,
      write: (into, { client, session }) => void into.u128(client).u64(session),
    }),
  read: (reader, { view, replica }) => ({
    kind: "vouch",
    view,
    replica,
    sessions: readList(reader, {
      countMax: VOUCHED_SESSIONS_MAX,
      read: (from): VouchedSession => ({ client: from.u128(), session: from.u64Number() }),
    }),
  }),
};
