import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { bring, cacheFolder } from "../bring.mjs";
import { withTls } from "../tls.mjs";

const here = dirname(fileURLToPath(import.meta.url));

/** The class path of the official client: as `pom.xml` says, from the repository that Maven is set up with. */
async function officialClassPath(folder) {
  cpSync(join(here, "pom.xml"), join(folder, "pom.xml"));
  const list = join(folder, "class-path.txt");
  await bring("mvn", ["-q", "-B", "dependency:build-classpath", `-Dmdep.outputFile=${list}`], {
    cwd: folder,
  });
  return readFileSync(list, "utf8").trim();
}

/**
 * Compiles the Java judge against the official client and says how it is run.
 *
 * A build of a checkout is judged instead when MILLRACE_INTEROP_JAVA_CLASSPATH has its classes and what they need:
 * the published version in `pom.xml` cannot be downloaded everywhere yet (docs/adr/0029).
 */
export async function prepareJava() {
  const folder = join(cacheFolder(), "java");
  const classes = join(folder, "classes");
  mkdirSync(folder, { recursive: true });
  rmSync(classes, { recursive: true, force: true });
  const client = process.env.MILLRACE_INTEROP_JAVA_CLASSPATH ?? (await officialClassPath(folder));
  const sources = join(here, "src", "main", "java", "interop");
  const files = readdirSync(sources).map((name) => join(sources, name));
  await bring("javac", ["-d", classes, "-cp", client, ...files]);
  return { program: "java", args: ["-cp", [classes, client].join(delimiter), "interop.Judge"] };
}

/** The same against a server that encrypts TCP. */
export const prepareJavaWithTls = () => withTls(prepareJava);
