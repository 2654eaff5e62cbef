import { spawn } from "node:child_process";
import { cleanEnvironment } from "../server-under-test.mjs";

/** One command takes far less than a second; the client itself gives up after ten reconnects. */
const commandTimeoutMs = 30_000;

/** The official `iggy` command, pointed at one server, with its settings in a folder of its own. */
export class IggyCommand {
  #binary;
  #way;
  #home;

  /**
   * @param binary  path of the command
   * @param way     the global options that say how the server is reached
   * @param home    folder of the command's settings
   */
  constructor(binary, way, home) {
    this.#binary = binary;
    this.#way = way;
    this.#home = home;
  }

  /** The same command that reaches the server another way. */
  over(...way) {
    return new IggyCommand(this.#binary, way, this.#home);
  }

  /**
   * Runs `iggy` with the words and returns `{ code, stdout, stderr }`.
   *
   * `input` becomes its standard input. Without `credentials` (global options) it logs in as root.
   */
  run(words, { input = "", credentials = ["-u", "iggy", "-p", "iggy"] } = {}) {
    const options = [...this.#way, ...credentials];
    const child = spawn(this.#binary, [...options, ...words], {
      env: cleanEnvironment({ IGGY_HOME: this.#home }),
    });
    const timer = setTimeout(() => child.kill("SIGKILL"), commandTimeoutMs);
    const printed = { stdout: "", stderr: "" };
    child.stdout.on("data", (chunk) => (printed.stdout += chunk));
    child.stderr.on("data", (chunk) => (printed.stderr += chunk));
    child.stdin.on("error", () => {});
    child.stdin.end(input);
    return new Promise((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (code) => {
        clearTimeout(timer);
        resolve({ code, ...printed });
      });
    });
  }

  /** Runs a command that must succeed and returns what it printed. */
  async do(...words) {
    return this.#succeed(words, {});
  }

  /** The same with text on the standard input. */
  async doWithInput(input, ...words) {
    return this.#succeed(words, { input });
  }

  /** Runs a command that must fail with exit code 1 and `text` somewhere in what it says. */
  async refuse(text, words, options) {
    const { code, stdout, stderr } = await this.run(words, options);
    const said = `${stdout}${stderr}`;
    if (code !== 1) throw new Error(`\`iggy ${words.join(" ")}\` ended with ${code}, expected 1: ${said}`);
    if (!said.toLowerCase().includes(text.toLowerCase()))
      throw new Error(`\`iggy ${words.join(" ")}\` said: ${said}\nexpected: ${text}`);
  }

  async #succeed(words, options) {
    const { code, stdout, stderr } = await this.run(words, options);
    if (code !== 0) throw new Error(`\`iggy ${words.join(" ")}\` ended with ${code}: ${stdout}${stderr}`);
    return stdout;
  }
}

/** The rows of the table in an output, header first; a row that spans lines gives one entry per line. */
export function tableRows(output) {
  const lines = output.split("\n").filter((line) => /^\|[^-]/.test(line));
  return lines.map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

/** A Property/Value table as an object. */
export function properties(output) {
  return Object.fromEntries(tableRows(output).slice(1));
}
