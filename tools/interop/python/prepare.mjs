import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { bring, cacheFolder } from "../bring.mjs";

const version = "0.9.0";
const judgePath = join(dirname(fileURLToPath(import.meta.url)), "judge.py");

/** The version of the client inside the virtual environment; undefined when it is not usable. */
async function installedVersion(python) {
  if (!existsSync(python)) return undefined;
  const question = "import apache_iggy, importlib.metadata as m; print(m.version('apache-iggy'))";
  return bring(python, ["-c", question]).then(
    (answer) => answer.trim(),
    () => undefined,
  );
}

/** Brings the official Python client into a virtual environment of its own and says how the judge is run. */
export async function preparePython() {
  const environment = join(cacheFolder(), `python-${version}`);
  const python = join(environment, "bin", "python");
  if ((await installedVersion(python)) !== version) {
    console.log(`Installing apache-iggy ${version} ...`);
    rmSync(environment, { recursive: true, force: true });
    await bring("python3", ["-m", "venv", environment]);
    const install = ["-m", "pip", "install", "--disable-pip-version-check", `apache-iggy==${version}`];
    await bring(python, install);
  }
  return { program: python, args: ["-B", judgePath] };
}

/**
 * The same client against a server that encrypts TCP and WebSocket with a certificate of an authority made
 * for this run, which the client is told to trust.
 */
export async function preparePythonWithTls() {
  const { program, args } = await preparePython();
  const { makeTestAuthority } = await import("../../../packages/testkit/dist/index.js");
  const authority = await makeTestAuthority();
  const { certificate, privateKey } = await authority.issue(["localhost", "127.0.0.1"]);
  const folder = mkdtempSync(join(tmpdir(), "millrace-interop-tls-"));
  const file = (name, text) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const [certFile, keyFile] = [file("certificate.pem", certificate), file("key.pem", privateKey)];
  const serverEnvironment = {};
  for (const listener of ["TCP", "WEBSOCKET"]) {
    serverEnvironment[`MILLRACE_${listener}_TLS_ENABLED`] = "true";
    serverEnvironment[`MILLRACE_${listener}_TLS_CERT_FILE`] = certFile;
    serverEnvironment[`MILLRACE_${listener}_TLS_KEY_FILE`] = keyFile;
  }
  return {
    program,
    args,
    env: { JUDGE_CA_FILE: file("authority.pem", authority.certificate) },
    serverEnvironment,
    cleanUp: () => rmSync(folder, { recursive: true, force: true }),
  };
}
