import { ReplicaCommand, WireError } from "@millrace/framing";
import type { FieldCodec } from "./field-codec.ts";

/** Bytes of a part in one message at most. */
export const STATE_CHUNK_LENGTH_MAX = 262_144;

/** Bytes of a part. */
export interface StateChunkMessage {
  readonly kind: "stateChunk";
  readonly view: number;
  readonly replica: number;
  readonly transfer: number;
  readonly part: number;
  readonly position: number;
  /**
   * 1 to 256 KiB; fewer only at the part's end. Lent when they are sent, a view of the frame when they
   * came.
   */
  readonly bytes: Uint8Array;
}

/** Fields: transfer u32, part u32, position u64. Payload: the bytes. */
export const stateChunkCodec: FieldCodec<StateChunkMessage> = {
  command: ReplicaCommand.stateChunk,
  write(writer, { transfer, part, position, bytes }) {
    writer.u32(transfer).u32(part).u64(position);
    checkLength(bytes);
  },
  read(reader, { view, replica, payload: bytes }) {
    const [transfer, part, position] = [reader.u32(), reader.u32(), reader.u64Number()];
    checkLength(bytes);
    return { kind: "stateChunk", view, replica, transfer, part, position, bytes };
  },
  payloadOf: ({ bytes }) => bytes,
};

function checkLength({ length }: Uint8Array): void {
  if (length === 0 || length > STATE_CHUNK_LENGTH_MAX) throw new WireError("bad_length", 0);
}
