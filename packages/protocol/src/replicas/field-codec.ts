import type { ByteReader, ByteWriter, OpenedFrame, ReplicaCommand } from "@millrace/framing";

/** How one kind of message between replicas travels: its fields, and what it carries behind them. */
export interface FieldCodec<Message> {
  readonly command: ReplicaCommand;
  write(writer: ByteWriter, message: Message): void;
  /** Reads the fields; view, sender and payload come from the frame. @throws WireError */
  read(reader: ByteReader, frame: OpenedFrame): Message;
  /** What the message carries, as it is. Left out: nothing. */
  payloadOf?(message: Message): Uint8Array;
}
