import type { NextRequest } from "./load-connection.ts";

/** What carries whole messages for a load: sends one, calls `onMessage` with each that comes, closes. */
export interface LoadCarrier {
  send(message: Buffer): void;
  onMessage: (message: Uint8Array) => void;
  close(): void;
}

const COMMAND_AT = 60;
const REPLY_COMMAND = 8;
const STATUS_AT = 216;

/** As `LoadConnection`, over a carrier that keeps messages apart. */
export class CarriedLoad {
  readonly #carrier: LoadCarrier;

  constructor(carrier: LoadCarrier) {
    this.#carrier = carrier;
  }

  /** Sends one request and returns its reply, header and body. */
  call(request: Buffer): Promise<Buffer> {
    return new Promise((resolve) => {
      this.#carrier.onMessage = (reply) => resolve(Buffer.from(reply));
      this.#carrier.send(request);
    });
  }

  /** Sends `count` requests with at most `inFlight` unanswered; ends when all are answered. */
  pump(count: number, inFlight: number, next: NextRequest): Promise<void> {
    return new Promise((resolve, reject) => {
      let sent = 0;
      let answered = 0;
      const sendMore = () => {
        while (sent < count && sent - answered < inFlight) this.#carrier.send(next(sent++));
      };
      this.#carrier.onMessage = (reply) => {
        const fault = faultOf(reply);
        if (fault !== undefined) return reject(new Error(`request ${answered}: ${fault}`));
        answered++;
        if (answered === count) resolve();
        else if (sent - answered < inFlight / 2 || sent === answered) sendMore();
      };
      sendMore();
    });
  }

  close(): void {
    this.#carrier.close();
  }
}

function faultOf(reply: Uint8Array): string | undefined {
  if (reply[COMMAND_AT] !== REPLY_COMMAND) return "not a reply";
  const view = new DataView(reply.buffer, reply.byteOffset, reply.byteLength);
  const status = view.getUint32(STATUS_AT, true);
  return status === 0 ? undefined : `refused with ${status}`;
}
