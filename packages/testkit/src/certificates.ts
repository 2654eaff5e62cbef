import { generate } from "selfsigned";

/** A certificate and its private key, PEM. */
export interface TestCertificate {
  readonly certificate: string;
  readonly privateKey: string;
}

/** An authority that lives as long as a test. */
export interface TestAuthority extends TestCertificate {
  /** A certificate for these names; `127.0.0.1` and the like are addresses, others host names. */
  issue(names: readonly string[]): Promise<TestCertificate>;
}

const IS_ADDRESS = /^[\d.]+$|:/;
const MINUTE_MS = 60_000;

/** Makes an authority with a new key, for elliptic curves because those are quick to make. */
export async function makeTestAuthority(): Promise<TestAuthority> {
  const authority = await make("Test Authority", [
    { name: "basicConstraints", cA: true, critical: true },
    { name: "keyUsage", keyCertSign: true, cRLSign: true, critical: true },
  ]);
  const issue = (names: readonly string[]) =>
    make(
      names[0] ?? "nobody",
      [
        { name: "basicConstraints", cA: false },
        { name: "keyUsage", digitalSignature: true },
        { name: "extKeyUsage", serverAuth: true },
        { name: "subjectAltName", altNames: names.map(altName) },
      ],
      { cert: authority.certificate, key: authority.privateKey },
    );
  return { ...authority, issue };
}

type Extensions = NonNullable<NonNullable<Parameters<typeof generate>[1]>["extensions"]>;

async function make(
  name: string,
  extensions: Extensions,
  ca?: { cert: string; key: string },
): Promise<TestCertificate> {
  const made = await generate([{ name: "commonName", value: name }], {
    keyType: "ec",
    algorithm: "sha256",
    notBeforeDate: new Date(Date.now() - MINUTE_MS),
    extensions,
    ...(ca === undefined ? {} : { ca }),
  });
  return { certificate: made.cert, privateKey: made.private };
}

function altName(name: string) {
  return IS_ADDRESS.test(name) ? ({ type: 7, ip: name } as const) : ({ type: 2, value: name } as const);
}
