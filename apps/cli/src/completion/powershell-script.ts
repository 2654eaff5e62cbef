import type { TreeCommand } from "./command-tree.ts";
import { placeTables, quoted } from "./shell-cases.ts";

/** Completion for PowerShell: `millrace --generate powershell | Out-String | Invoke-Expression`. */
export function powershellScript(tree: TreeCommand): string {
  const { entered, valued, words } = placeTables(tree);
  const table = (rows: readonly (readonly [key: string, value: string])[]) =>
    rows.map(([key, value]) => `    $table[${quoted(key)}] = ${value}`).join("\n");
  const list = (texts: readonly string[]) => `@(${texts.map(quoted).join(", ")})`;
  return `# Completion of ${tree.place} for PowerShell. Load it with:
# ${tree.place} --generate powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName ${tree.place} -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    # Names differ by case alone (-d and -D), which @{} would take for one.
    $enters = [System.Collections.Generic.Dictionary[string, string]]::new()
    $values = [System.Collections.Generic.Dictionary[string, object]]::new()
    $offers = [System.Collections.Generic.Dictionary[string, object]]::new()
    $table = $enters
${table(entered.map(([key, place]) => [key, quoted(place)]))}
    $table = $values
${table(valued.map(([key, choices]) => [key, list(choices)]))}
    $table = $offers
${table(words.map(([place, offered]) => [place, list(offered)]))}
    $place = ${quoted(tree.place)}
    $before = ''
    foreach ($element in ($commandAst.CommandElements | Select-Object -Skip 1)) {
        if ($element.Extent.EndOffset -ge $cursorPosition -and $wordToComplete -ne '') { break }
        $word = $element.Extent.Text
        if ($before -ne '') { $before = '' }
        elseif ($values.ContainsKey("$place|$word")) { $before = "$place|$word" }
        elseif ($enters.ContainsKey("$place|$word")) { $place = $enters["$place|$word"] }
    }
    $candidates = if ($before -eq '') { $offers[$place] } else { $values[$before] }
    # Where nothing is offered, PowerShell completes file names by itself.
    $fitting = $candidates | Where-Object { $_.StartsWith($wordToComplete, [StringComparison]::Ordinal) }
    $fitting | ForEach-Object {
        [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)
    }
}
`;
}
