import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { test } from "node:test";
import { makeTestAuthority } from "./certificates.ts";

test("an authority's certificates are for their names and verify against it alone", async () => {
  const [authority, other] = await Promise.all([makeTestAuthority(), makeTestAuthority()]);
  const issued = await authority.issue(["node.example", "127.0.0.1"]);
  const certificate = new X509Certificate(issued.certificate);
  assert.equal(certificate.checkHost("node.example"), "node.example");
  assert.equal(certificate.checkIP("127.0.0.1"), "127.0.0.1");
  assert.equal(certificate.checkHost("other.example"), undefined);
  assert.ok(certificate.verify(new X509Certificate(authority.certificate).publicKey));
  assert.ok(!certificate.verify(new X509Certificate(other.certificate).publicKey));
});
