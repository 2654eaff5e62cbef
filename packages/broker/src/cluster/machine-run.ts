import type { Disk } from "@millrace/platform";

/** Its name, below the metadata. */
const FILE = "machine-run";
const LENGTH_MAX = 256;

/** The run of the machine in which this node last started, as its own file says. */
export class MachineRun {
  /**
   * The machine was started anew since this node's last start, or nobody can tell: what was written before
   * and not synced may be lost, whether the node ended by itself or with the machine.
   */
  readonly isAnother: boolean;
  readonly #note: () => Promise<void>;

  private constructor(isAnother: boolean, note: () => Promise<void>) {
    this.isAnother = isAnother;
    this.#note = note;
  }

  /**
   * @param folder  where the file is
   * @param bootId  names the machine's run, see `Host`
   * @throws CodedError what the disk answers
   */
  static async read(disk: Disk, folder: string, bootId: string): Promise<MachineRun> {
    const path = `${folder}/${FILE}`;
    const noted = await disk.readWhole(path, LENGTH_MAX);
    const isSame = bootId !== "" && noted !== undefined && new TextDecoder().decode(noted) === bootId;
    return new MachineRun(!isSame, async () => {
      if (!isSame) await disk.writeWhole(path, new TextEncoder().encode(bootId));
    });
  }

  /** Notes this run. To be called once all that may be lost is noted where it matters: no start asks again. */
  note(): Promise<void> {
    return this.#note();
  }
}
