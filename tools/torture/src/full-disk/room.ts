/** A place for data whose space a test takes away and gives back. */
export interface Room {
  /** How a line of the run names it. */
  readonly name: string;
  /** A program with arguments that starts the server, or none. */
  readonly runner: readonly string[];
  /** Leaves this many bytes, of the disk or of each file; `pid` is the server that runs, if one does. */
  squeeze(length: number, pid?: number): void;
  /** The most that `squeeze` leaves when it leaves little. */
  readonly littleMax: number;
  /** Gives all space back. */
  release(pid?: number): void;
  remove(): void;
}
