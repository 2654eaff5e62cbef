import { ReplicaCommand } from "@millrace/framing";
import type { FieldCodec } from "./field-codec.ts";
import { readFlag, writeFlag } from "./field-forms.ts";

/** The sender asks for a view, or goes there because enough others asked too. */
export interface StartViewChangeMessage {
  readonly kind: "startViewChange";
  readonly view: number;
  readonly replica: number;
  readonly agreed: boolean;
}

/** Fields: agreed u8, 0 or 1. */
export const startViewChangeCodec: FieldCodec<StartViewChangeMessage> = {
  command: ReplicaCommand.startViewChange,
  write: (writer, { agreed }) => writeFlag(writer, agreed),
  read: (reader, { view, replica }) => ({
    kind: "startViewChange",
    view,
    replica,
    agreed: readFlag(reader),
  }),
};
