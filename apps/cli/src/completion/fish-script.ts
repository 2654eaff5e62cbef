import { flattened, type TreeCommand, type TreeOption } from "./command-tree.ts";
import { quoted, walkCases } from "./shell-cases.ts";

/** Completion for fish: `millrace --generate fish | source`. */
export function fishScript(tree: TreeCommand): string {
  const cases = walkCases(tree, { skip: "set skip 1", enter: (place) => `set place ${place}` });
  const walk = cases.map(
    ({ patterns, action }) => `            case ${patterns.join(" ")}\n                ${action}`,
  );
  const lines = flattened(tree).flatMap((command) => [
    ...commandLines(tree, command),
    ...optionLines(tree, command),
  ]);
  return `# Completion of ${tree.place} for fish. Load it with: ${tree.place} --generate fish | source
function __${tree.place}_place
    set -l place ${tree.place}
    set -l skip 0
    for word in (commandline -opc)[2..-1]
        if test $skip = 1
            set skip 0
            continue
        end
        switch "$place|$word"
${walk.join("\n")}
        end
    end
    echo $place
end
complete -c ${tree.place} -f
${lines.join("\n")}
`;
}

function start(tree: TreeCommand, place: string): string {
  return `complete -c ${tree.place} -n "test (__${tree.place}_place) = ${quoted(place)}"`;
}

function commandLines(tree: TreeCommand, { place, children, choices }: TreeCommand): string[] {
  const begin = start(tree, place);
  const named = children.map(
    (child) => `${begin} -a ${quoted(child.names[0] ?? "")} -d ${quoted(child.summary)}`,
  );
  return choices.length === 0 ? named : [...named, `${begin} -a ${quoted(choices.join(" "))}`];
}

function optionLines(tree: TreeCommand, { place, options }: TreeCommand): string[] {
  return options.map(
    (option) => `${start(tree, place)}${flagsOf(option)}${valuePart(option)} -d ${quoted(option.summary)}`,
  );
}

function flagsOf({ flags }: TreeOption): string {
  return flags
    .map((flag) => (flag.startsWith("--") ? ` -l ${flag.slice(2)}` : ` -s ${flag.slice(1)}`))
    .join("");
}

/** A value chosen from a list, or a file; fish completes files for -r. */
function valuePart({ takesValue, choices }: TreeOption): string {
  if (!takesValue) return "";
  return choices.length === 0 ? " -r -F" : ` -x -a ${quoted(choices.join(" "))}`;
}
