import { ReplicaCommand } from "@millrace/framing";
import type { FieldCodec } from "./field-codec.ts";

/**
 * A client's request that the sender has admitted and is not primary for. The primary gives it its time and
 * answers with `forward`.
 */
export interface ForwardedRequestMessage {
  readonly kind: "forwardedRequest";
  readonly view: number;
  readonly replica: number;
  /** Chosen by the sender, below 2^53: the answer has it too. */
  readonly forward: number;
  readonly client: bigint;
  readonly session: number;
  readonly request: bigint;
  readonly operation: number;
  readonly user: number;
  readonly bodyChecksum: bigint;
  /** Lent when it is sent, a view of the frame when it came. */
  readonly body: Uint8Array;
}

/**
 * Fields: forward u64, client u128, session u64, request u64, body's checksum u128, user u32, operation u8.
 * Payload: the request's body.
 */
export const forwardedRequestCodec: FieldCodec<ForwardedRequestMessage> = {
  command: ReplicaCommand.forwardedRequest,
  write(writer, message) {
    writer.u64(message.forward).u128(message.client).u64(message.session).u64(message.request);
    writer.u128(message.bodyChecksum).u32(message.user).u8(message.operation);
  },
  read(reader, { view, replica, payload: body }) {
    const [forward, client, session] = [reader.u64Number(), reader.u128(), reader.u64Number()];
    const [request, bodyChecksum] = [reader.u64(), reader.u128()];
    const [user, operation] = [reader.u32(), reader.u8()];
    const asked = { forward, client, session, request, operation, user, bodyChecksum };
    return { kind: "forwardedRequest", view, replica, ...asked, body };
  },
  payloadOf: ({ body }) => body,
};
