import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * The judge that `prepare` brings, against a server that encrypts its listeners with a certificate of an
 * authority made for this run.
 *
 * The judge is told the authority's file in JUDGE_CA_FILE, and in SSL_CERT_FILE, where clients look that trust
 * what the system trusts. They do so over HTTP.
 *
 * @param listeners  those that encrypt; the others are served in clear
 */
export async function withTls(prepare, listeners = ["TCP", "WEBSOCKET", "HTTP"]) {
  const program = await prepare();
  const { makeTestAuthority } = await import("../../packages/testkit/dist/index.js");
  const authority = await makeTestAuthority();
  const { certificate, privateKey } = await authority.issue(["localhost", "127.0.0.1"]);
  const folder = mkdtempSync(join(tmpdir(), "millrace-interop-tls-"));
  const file = (name, text) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const [certFile, keyFile] = [file("certificate.pem", certificate), file("key.pem", privateKey)];
  const serverEnvironment = {};
  for (const listener of listeners) {
    serverEnvironment[`MILLRACE_${listener}_TLS_ENABLED`] = "true";
    serverEnvironment[`MILLRACE_${listener}_TLS_CERT_FILE`] = certFile;
    serverEnvironment[`MILLRACE_${listener}_TLS_KEY_FILE`] = keyFile;
  }
  const trusted = file("authority.pem", authority.certificate);
  return {
    ...program,
    env: { ...program.env, JUDGE_CA_FILE: trusted, SSL_CERT_FILE: trusted },
    serverEnvironment,
    cleanUp: () => {
      program.cleanUp?.();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
