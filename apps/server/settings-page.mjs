// Writes the tables of docs/configuration.md anew: everything from its first table on. Run with the loader for
// TypeScript, as the script `settings-page` of the manifest does.
import { readFileSync, writeFileSync } from "node:fs";
import { settingsTables } from "./src/config/settings-page.ts";

const page = new URL("../../docs/configuration.md", import.meta.url);
const text = readFileSync(page, "utf8");
writeFileSync(page, text.slice(0, text.indexOf("| Setting | Default |")) + settingsTables());
