import type { TreeCommand } from "./command-tree.ts";
import { caseLines, valueCases, walkCases, wordCases } from "./shell-cases.ts";

/** Completion for bash: `source <(millrace --generate bash)`. */
export function bashScript(tree: TreeCommand): string {
  const words = (list: string) => `COMPREPLY=($(compgen -W ${list} -- "$current"))`;
  const values = {
    words: (list: string) => `${words(list)}; return`,
    files: 'COMPREPLY=($(compgen -f -- "$current")); return',
  };
  return `# Completion of ${tree.place} for bash. Load it with: source <(${tree.place} --generate bash)
_${tree.place}() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD - 1]}" place=${tree.place} i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$place|\${COMP_WORDS[i]}" in
${caseLines(walkCases(tree, { skip: "((++i))", enter: (place) => `place=${place}` }), "      ")}
    esac
  done
  COMPREPLY=()
  case "$place|$before" in
${caseLines(valueCases(tree, values), "    ")}
  esac
  case "$place" in
${caseLines(wordCases(tree, words), "    ")}
  esac
}
complete -o default -F _${tree.place} ${tree.place}
`;
}
