import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** A registry that does not answer makes a run fail rather than last for ever. */
const RUN_MAX_MS = 240_000;
/** The folder of the repository. */
export const root = fileURLToPath(new URL("../../..", import.meta.url));

/** The parts of a manifest that decide what an install does. */
export interface Manifest {
  readonly name: string;
  readonly private?: boolean;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
}

/** Folders and manifests of every package that is published. */
export function publishedPackages(): { folder: string; manifest: Manifest }[] {
  return ["packages", "apps"].flatMap((group) =>
    readdirSync(join(root, group)).flatMap((name) => {
      const folder = join(root, group, name);
      const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
      return manifest.private === true ? [] : [{ folder, manifest }];
    }),
  );
}

/** Runs a program to its end and returns what it printed; a failure throws with its output. */
export function runOnce(
  program: string,
  args: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv = {},
): string {
  const options = { cwd, env: { ...process.env, ...env }, encoding: "utf8", timeout: RUN_MAX_MS } as const;
  const run = spawnSync(program, args, options);
  if (run.status === 0) return run.stdout;
  throw new Error(`${program} ${args.join(" ")} ended with ${run.status}:\n${run.stdout}\n${run.stderr}`);
}

/** Packs every published package into `target`, as a release would, and returns the tarballs' paths. */
export function packAll(target: string): string[] {
  mkdirSync(target, { recursive: true });
  const pnpm = join(root, "node_modules", ".bin", "pnpm");
  for (const { folder } of publishedPackages()) runOnce(pnpm, ["pack", "--pack-destination", target], folder);
  return readdirSync(target).map((name) => join(target, name));
}

/** A started server and the address it printed. */
export interface RunningServer {
  readonly address: string;
  stop(): Promise<number>;
}

/** Starts an installed server command and waits for the address in its banner. */
export function startServer(command: string, cwd: string): Promise<RunningServer> {
  const env = {
    ...process.env,
    MILLRACE_TCP_ADDRESS: "127.0.0.1:0",
    MILLRACE_WEBSOCKET_ADDRESS: "127.0.0.1:0",
    MILLRACE_HTTP_ADDRESS: "127.0.0.1:0",
    MILLRACE_PATH: join(cwd, "data"),
  };
  const child = spawn(command, ["--with-default-root-credentials"], {
    cwd,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = new Promise<number>((resolve) => child.once("exit", (code) => resolve(code ?? -1)));
  const stop = () => {
    child.kill("SIGTERM");
    return ended;
  };
  return new Promise((resolve, reject) => {
    let text = "";
    const onText = (chunk: Buffer) => {
      text += chunk.toString();
      const address = /tcp\s+(127\.0\.0\.1:\d+)/.exec(text)?.[1];
      if (address !== undefined) resolve({ address, stop });
    };
    child.stdout.on("data", onText);
    child.stderr.on("data", onText);
    void ended.then((code) => reject(new Error(`the installed server ended with ${code}:\n${text}`)));
  });
}
