import type { Command } from "commander";
import { bashScript } from "./bash-script.ts";
import { treeOf } from "./command-tree.ts";
import { elvishScript } from "./elvish-script.ts";
import { fishScript } from "./fish-script.ts";
import { powershellScript } from "./powershell-script.ts";
import { zshScript } from "./zsh-script.ts";

/** Shells that completion is made for. */
export const SHELLS = ["bash", "zsh", "fish", "elvish", "powershell"] as const;

/** One of them. */
export type Shell = (typeof SHELLS)[number];

const SCRIPTS = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
  elvish: elvishScript,
  powershell: powershellScript,
} as const;

/** The script that completes the commands, options and fixed values of a program in a shell. */
export function completionScript(shell: Shell, program: Command): string {
  return SCRIPTS[shell](treeOf(program));
}
