import { isCodedError } from "@millrace/errors";
import type { Disk } from "@millrace/platform";

/** Its name, below the metadata. */
const FILE = "machine-run";
const LENGTH_MAX = 256;

/** The run of the machine in which this node last started, as its own file says. */
export class MachineRun {
  readonly #disk: Disk;
  readonly #path: string;
  readonly #bootId: string;
  #isAnother: boolean;

  private constructor(
    disk: Disk,
    path: string,
    { bootId, isAnother }: { bootId: string; isAnother: boolean },
  ) {
    this.#disk = disk;
    this.#path = path;
    this.#bootId = bootId;
    this.#isAnother = isAnother;
  }

  /**
   * @param folder  where the file is
   * @param bootId  names the machine's run, see `Host`
   * A note that cannot be read is one of another run: it only spares a fetch of what others have.
   */
  static async read(disk: Disk, folder: string, bootId: string): Promise<MachineRun> {
    const path = `${folder}/${FILE}`;
    const noted = await disk.readWhole(path, LENGTH_MAX).catch(ofAnotherRun);
    const isSame = bootId !== "" && noted !== undefined && new TextDecoder().decode(noted) === bootId;
    return new MachineRun(disk, path, { bootId, isAnother: !isSame });
  }

  /**
   * True until `note` when the machine was started anew since this node's last start, or nobody can tell:
   * what was written before and not synced may be lost, whether the node ended by itself or with the machine.
   */
  get isAnother(): boolean {
    return this.#isAnother;
  }

  /** Notes this run. To be called once all that may be lost is noted where it matters: nobody asks again. */
  async note(): Promise<void> {
    if (!this.#isAnother) return;
    await this.#disk.writeWhole(this.#path, new TextEncoder().encode(this.#bootId));
    this.#isAnother = false;
  }
}

/** @throws unknown what no disk answers */
function ofAnotherRun(error: unknown): undefined {
  if (!isCodedError(error)) throw error;
}
