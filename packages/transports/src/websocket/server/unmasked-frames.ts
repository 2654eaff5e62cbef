import { assert } from "@millrace/errors";
import type { WebSocket } from "ws";

/** Parts of a receiver of `ws` that it has but does not promise. */
interface Receiver {
  _isServer: boolean;
  readonly _masked: boolean;
}

/**
 * Makes a server's WebSocket take frames with and without a mask.
 *
 * `ws` has no setting for that: its receiver asks `_isServer` once a frame, for nothing but whether a mask
 * has to be there. Answering with whether there is one makes both right. That rests on private fields, which
 * the assertion and a test watch.
 */
export function allowUnmaskedFrames(webSocket: WebSocket): void {
  const receiver = (webSocket as unknown as { _receiver: Receiver })._receiver;
  assert("_isServer" in receiver && "_masked" in receiver, "the receiver of ws has the fields we know");
  Object.defineProperty(receiver, "_isServer", { get: () => receiver._masked });
}
