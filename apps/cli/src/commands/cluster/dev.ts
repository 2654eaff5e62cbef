import { PORT_DEFAULT, PORT_MAX, PORT_MIN } from "../../dev-cluster/plan.ts";
import { runDevCluster } from "../../dev-cluster/run-dev-cluster.ts";
import { wholeNumber } from "../../formats/whole-number.ts";
import { type AddCommand, leaf } from "../command.ts";

/** More nodes than that need quorums that nobody has tried. */
const NODES_MAX = 7;
const NODES_DEFAULT = 3;

/** Time enough to send something to the others. */
const RESTART_DEFAULT_S = 10;
const RESTART_MAX_S = 86_400;

/** A port from which the others can be counted, or 0. */
function parsePort(text: string): number {
  return text === "0" ? 0 : wholeNumber({ min: PORT_MIN, max: PORT_MAX })(text);
}

interface Typed {
  readonly nodes?: number;
  readonly port?: number;
  readonly data?: string;
  readonly keep?: true;
  readonly restartAfter?: number;
}

/** `millrace cluster dev` */
export const addClusterDev: AddCommand = (parent, run) => {
  leaf(parent, { name: "dev", summary: "start a cluster on this machine, for trying out, until Ctrl-C" })
    .option(
      "--nodes <n>",
      `how many servers (default: ${NODES_DEFAULT})`,
      wholeNumber({ min: 1, max: NODES_MAX }),
    )
    .option(
      "--port <port>",
      `TCP port of the first node, the others' follow in steps of ten; 0 for any (default: ${PORT_DEFAULT})`,
      parsePort,
    )
    .option("--data <folder>", "keep the data here and go on with what is there")
    .option("--keep", "without --data: leave the folder of this run when it ends")
    .option(
      "--restart-after <seconds>",
      `how long a node stays down that ended by itself (default: ${RESTART_DEFAULT_S})`,
      wholeNumber({ min: 0, max: RESTART_MAX_S }),
    )
    .action(
      run(({ world, output }, typed: Typed) =>
        runDevCluster(
          { world, output },
          {
            nodesCount: typed.nodes ?? NODES_DEFAULT,
            firstPort: typed.port ?? PORT_DEFAULT,
            data: typed.data,
            keep: typed.keep === true,
            restartMs: (typed.restartAfter ?? RESTART_DEFAULT_S) * 1000,
          },
        ),
      ),
    );
};
