import { assert, CodedError, ErrorCode } from "@millrace/errors";
import type { FrameHash } from "@millrace/framing";
import type { StatePart } from "@millrace/protocol";
import type { StateManifest, StateSink } from "../cluster/state-transfer/state-source.ts";
import { decodeSnapshot, type MetadataSnapshot, SNAPSHOT_PART } from "./snapshot.ts";

/** Bytes of a state at most, as of a snapshot on disk: more than 8192 sessions and 100,000 topics take. */
const STATE_LENGTH_MAX = 1_073_741_824;

/** What an incoming state of the metadata group needs. */
export interface IncomingMetadataOptions {
  readonly hash: FrameHash;
  /** Sessions of a client table. */
  readonly clientsMax: number;
  /** Puts it in the place of the group's own; `bytes` is the encoded form. */
  install(state: MetadataSnapshot, bytes: Uint8Array): Promise<void>;
}

/** Another node's state of the metadata group on its way into this one: one part, held in memory. */
export class IncomingMetadata implements StateSink {
  readonly #options: IncomingMetadataOptions;
  #manifest: StateManifest | undefined;
  #bytes = new Uint8Array(0);

  constructor(options: IncomingMetadataOptions) {
    this.#options = options;
  }

  async begin(manifest: StateManifest): Promise<readonly number[]> {
    const [part, ...others] = manifest.parts;
    const isFitting = part?.name === SNAPSHOT_PART && part.length <= STATE_LENGTH_MAX;
    if (!isFitting || others.length > 0) throw unfit("its parts are not those of the metadata");
    this.#manifest = manifest;
    this.#bytes = new Uint8Array(part.length);
    return [];
  }

  async write(_part: StatePart, position: number, bytes: Uint8Array): Promise<void> {
    this.#bytes.set(bytes, position);
  }

  async finish(): Promise<void> {
    const { hash, clientsMax, install } = this.#options;
    const manifest = this.#manifest;
    assert(manifest !== undefined, "a state is finished that was begun");
    if (hash.hashBytes(this.#bytes) !== manifest.parts[0]?.checksum) throw unfit("it was changed on its way");
    const state = decodeSnapshot(this.#bytes, clientsMax);
    const { op, checksum } = state.end;
    if (op !== manifest.op || checksum !== manifest.checksum) throw unfit(`it is of operation ${op}`);
    await install(state, this.#bytes);
  }

  /** Another state is another snapshot. */
  keep(): Promise<void> {
    return this.discard();
  }

  async discard(): Promise<void> {
    this.#bytes = new Uint8Array(0);
  }
}

function unfit(what: string): CodedError {
  return new CodedError(ErrorCode.MetadataDamaged, `The state that another node sent is not used: ${what}.`);
}
