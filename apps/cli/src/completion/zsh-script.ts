import type { TreeCommand } from "./command-tree.ts";
import { caseLines, valueCases, walkCases, wordCases } from "./shell-cases.ts";

/** Completion for zsh: `source <(millrace --generate zsh)`, after compinit. */
export function zshScript(tree: TreeCommand): string {
  const words = (list: string) => `compadd -- \${=:-${list.slice(1, -1)}}`;
  const values = { words: (list: string) => `${words(list)}; return`, files: "_files; return" };
  return `#compdef ${tree.place}
# Completion of ${tree.place} for zsh. Load it behind compinit with: source <(${tree.place} --generate zsh)
_${tree.place}() {
  local before="\${words[CURRENT-1]}" place=${tree.place} i
  for ((i = 2; i < CURRENT; i++)); do
    case "$place|\${words[i]}" in
${caseLines(walkCases(tree, { skip: "((++i))", enter: (place) => `place=${place}` }), "      ")}
    esac
  done
  case "$place|$before" in
${caseLines(valueCases(tree, values), "    ")}
  esac
  case "$place" in
${caseLines(wordCases(tree, words), "    ")}
  esac
}
compdef _${tree.place} ${tree.place}
`;
}
