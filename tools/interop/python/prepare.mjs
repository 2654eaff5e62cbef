import { existsSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { bring, cacheFolder } from "../bring.mjs";
import { withTls } from "../tls.mjs";

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

/** The same against a server that encrypts every listener. */
export const preparePythonWithTls = () => withTls(preparePython);
