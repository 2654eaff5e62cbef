// The notices of the libraries in a bundle, which their licenses ask whoever hands out copies to keep.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/**
 * Name, version and license text of every package from node_modules of which something is in the bundle.
 *
 * @param metafile  what esbuild reports with `metafile: true`; its paths are relative to the working directory
 * @throws Error when a package has neither a license file nor a license in its manifest
 */
export function bundledLicenses(metafile) {
  const inputs = Object.values(metafile.outputs).flatMap(({ inputs }) => Object.keys(inputs));
  const folders = new Set(inputs.filter((path) => path.includes("node_modules/")).map(packageFolder));
  const notices = [...folders].map(notice).sort();
  return `${notices.join(`\n${"-".repeat(80)}\n\n`)}`;
}

/** A manifest without a name only says how a folder's files are read. */
function packageFolder(path) {
  for (let folder = dirname(resolve(path)); ; folder = dirname(folder)) {
    const manifest = join(folder, "package.json");
    if (existsSync(manifest) && JSON.parse(readFileSync(manifest, "utf8")).version) return folder;
  }
}

function notice(folder) {
  const { name, version, license, author } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file));
  if (files.length === 0 && !license) throw new Error(`${name} ${version} says nothing of its license.`);
  const texts = files.sort().map((file) => readFileSync(join(folder, file), "utf8").trim());
  return `${name} ${version}\n${[`License: ${license}`, ...by(author), ...texts].join("\n\n")}\n`;
}

function by(author) {
  if (!author) return [];
  return [`By ${typeof author === "string" ? author : author.name}`];
}
