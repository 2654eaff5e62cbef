// Checks millrace.proto and makes of it what the server reads messages with: `pnpm generate` in this folder.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const bin = (name) => join(here, "node_modules", ".bin", name);
const out = mkdtempSync(join(tmpdir(), "millrace-proto-"));
const grpc = join(here, "..", "..", "packages", "transports", "src", "grpc");
const target = join(grpc, "server", "unary", "millrace-proto.table.ts");
const plugin = {
  local: bin("protoc-gen-es"),
  out,
  opt: ["target=ts", "import_extension=ts", "erasable_syntax=true"],
};
const template = JSON.stringify({ version: "v2", plugins: [plugin] });
execFileSync(bin("buf"), ["generate", grpc, "--template", template], {
  stdio: "inherit",
});
writeFileSync(target, `${readFileSync(join(out, "millrace_pb.ts"), "utf8").trimEnd()}\n`);
rmSync(out, { recursive: true });
