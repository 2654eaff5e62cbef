import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/**
 * The folder that keeps the official clients between runs, made when missing. It lies outside the clone: a
 * second clone on the same machine neither downloads nor compiles again; MILLRACE_INTEROP_CACHE moves it.
 */
export function cacheFolder() {
  const outside = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "millrace-interop");
  const folder = process.env.MILLRACE_INTEROP_CACHE ?? outside;
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** Runs a program to its end; returns what it printed on stdout, throws the end of its output on failure. */
export function bring(program, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
    let printed = "";
    let all = "";
    child.stdout.on("data", (chunk) => {
      printed += chunk;
      all += chunk;
    });
    child.stderr.on("data", (chunk) => {
      all += chunk;
    });
    child.on("error", (error) => reject(new Error(`${program} could not be run: ${error.message}`)));
    child.on("close", (code) => {
      if (code === 0) resolve(printed);
      else reject(new Error(`\`${program} ${args.join(" ")}\` failed:\n${all.trim().slice(-2000)}`));
    });
  });
}
