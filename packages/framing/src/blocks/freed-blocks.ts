import { assert } from "@millrace/errors";

/** Four bytes nobody's data consists of; a reader of freed bytes meets them, a writer destroys them. */
const FREED = 0xdbdb_dbdb;

/**
 * Finds users of freed blocks in tests: overwrites what is freed, and sees whether it was written before it
 * is handed out again. Costs a pass over the block each time, so it is off in production.
 */
export class FreedBlocks {
  readonly #words: Uint32Array;
  readonly #blockWords: number;
  readonly #freed: Uint8Array;

  constructor(blocks: Uint8Array, blockLength: number) {
    this.#words = new Uint32Array(blocks.buffer, blocks.byteOffset, blocks.byteLength / 4);
    this.#blockWords = blockLength / 4;
    this.#freed = new Uint8Array(blocks.byteLength / blockLength);
  }

  /** The block was just freed. */
  overwrite(block: number): void {
    const start = block * this.#blockWords;
    this.#words.fill(FREED, start, start + this.#blockWords);
    this.#freed[block] = 1;
  }

  /** The block is about to be handed out. */
  assertUntouched(block: number): void {
    if (this.#freed[block] !== 1) return;
    assert(this.#isUntouched(block), "nobody writes into a freed block");
    this.#freed[block] = 0;
  }

  #isUntouched(block: number): boolean {
    const words = this.#words;
    const end = (block + 1) * this.#blockWords;
    for (let index = end - this.#blockWords; index < end; index++) if (words[index] !== FREED) return false;
    return true;
  }
}
