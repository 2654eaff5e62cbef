import { readFile } from "node:fs/promises";
import { CodedError, ErrorCode } from "@millrace/errors";
import type { ServerTls } from "@millrace/transports/tls";

/** A `[….tls]` table of the configuration. */
export interface TlsTable {
  readonly enabled: boolean;
  readonly self_signed: boolean;
  readonly cert_file: string;
  readonly key_file: string;
}

/** Names a generated certificate is for: clients on this machine. */
const LOOPBACK_NAMES = [
  { type: 2, value: "localhost" },
  { type: 7, ip: "127.0.0.1" },
  { type: 7, ip: "::1" },
] as const;

/**
 * Certificate and key of one listener; undefined without TLS. Files that are named are read; with
 * `self_signed` and no file a certificate for this machine's loopback names is made, which lives as long as
 * the process.
 *
 * @param key  name of the table, for messages: `tcp.tls`
 * @throws CodedError InvalidTlsCertificatePath for a file that cannot be read
 * @see server-semantics section 14
 */
export async function listenerTls(table: TlsTable, key: string): Promise<ServerTls | undefined> {
  if (!table.enabled) return undefined;
  if (table.cert_file === "") return selfSigned();
  const [certificate, privateKey] = await Promise.all([
    readPem(table.cert_file, `${key}.cert_file`),
    readPem(table.key_file, `${key}.key_file`),
  ]);
  return { certificate, privateKey };
}

async function readPem(path: string, key: string): Promise<Uint8Array> {
  try {
    return await readFile(path);
  } catch (cause) {
    const reason = (cause as NodeJS.ErrnoException).code ?? "unreadable";
    throw new CodedError(
      ErrorCode.InvalidTlsCertificatePath,
      `The setting ${key} names ${path}, which cannot be read (${reason}).`,
      { details: { key, path }, cause },
    );
  }
}

/**
 * The library is loaded when it is needed: it takes a tenth of a second, and most servers have no use for it.
 */
async function selfSigned(): Promise<ServerTls> {
  // A CommonJS library: in a bundle its names are on the default export only.
  const { default: selfsigned } = await import("selfsigned");
  const made = await selfsigned.generate([{ name: "commonName", value: "localhost" }], {
    keyType: "ec",
    algorithm: "sha256",
    extensions: [
      { name: "basicConstraints", cA: false },
      { name: "keyUsage", digitalSignature: true },
      { name: "extKeyUsage", serverAuth: true },
      { name: "subjectAltName", altNames: [...LOOPBACK_NAMES] },
    ],
  });
  return { certificate: made.cert, privateKey: made.private };
}
