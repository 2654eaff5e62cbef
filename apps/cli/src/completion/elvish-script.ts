import type { TreeCommand } from "./command-tree.ts";
import { placeTables, quoted } from "./shell-cases.ts";

/** Completion for elvish: `eval (millrace --generate elvish | slurp)`. */
export function elvishScript(tree: TreeCommand): string {
  const { entered, valued, words } = placeTables(tree);
  const map = (rows: readonly (readonly [key: string, value: string])[]) =>
    rows.map(([key, value]) => `  &${quoted(key)}=${value}`).join("\n");
  const list = (texts: readonly string[]) => `[${texts.map(quoted).join(" ")}]`;
  return `# Completion of ${tree.place} for elvish. Load it with:
# eval (${tree.place} --generate elvish | slurp)
var -${tree.place}-enters = [
${map(entered.map(([key, place]) => [key, quoted(place)]))}
]
var -${tree.place}-values = [
${map(valued.map(([key, choices]) => [key, list(choices)]))}
]
var -${tree.place}-words = [
${map(words.map(([place, offered]) => [place, list(offered)]))}
]
set edit:completion:arg-completer[${tree.place}] = {|@words|
  var place = ${quoted(tree.place)}
  var before = ''
  for word $words[1..-1] {
    if (not-eq $before '') {
      set before = ''
    } elif (has-key $-${tree.place}-values $place'|'$word) {
      set before = $place'|'$word
    } elif (has-key $-${tree.place}-enters $place'|'$word) {
      set place = $-${tree.place}-enters[$place'|'$word]
    }
  }
  if (eq $before '') {
    all $-${tree.place}-words[$place]
  } elif (eq $-${tree.place}-values[$before] []) {
    edit:complete-filename $@words
  } else {
    all $-${tree.place}-values[$before]
  }
}
`;
}
