import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { InvariantError } from "@millrace/errors";
import { fromHex, toHex, utf8 } from "@millrace/testkit";
import { SEAL_LENGTH } from "../cipher.ts";
import { SimRandom } from "../sim/sim-random.ts";
import { createNodeCipher } from "./node-cipher.ts";

const KEY = new Uint8Array(32).fill(7);
const ASSOCIATED = utf8("where it belongs");

function cipherOf(key = KEY, seed = 1) {
  return createNodeCipher(key, new SimRandom(seed));
}

function sealed(text: Uint8Array, cipher = cipherOf()) {
  const seal = new Uint8Array(SEAL_LENGTH);
  return { bytes: cipher.seal(text, ASSOCIATED, seal), seal };
}

describe("the cipher of Node", () => {
  it("opens the published vectors of XAES-256-GCM", () => {
    const nonce = utf8("ABCDEFGHIJKLMNOPQRSTUVWX");
    for (const [byte, associated, expected] of [
      [1, "", "ce546ef63c9cc60765923609b33a9a1974e96e52daf2fcf7075e2271"],
      [3, "c2sp.org/XAES-256-GCM", "986ec1832593df5443a179437fd083bf3fdb41abd740a21f71eb769d"],
    ] as const) {
      const bytes = fromHex(expected);
      const seal = new Uint8Array([...nonce, ...bytes.subarray(12)]);
      const cipher = cipherOf(new Uint8Array(32).fill(byte));
      const text = cipher.open(bytes.subarray(0, 12), utf8(associated), seal);
      assert.equal(text && toHex(text), toHex(utf8("XAES-256-GCM")));
    }
  });

  it("gives back texts of every length, and nothing that shows in their place", () => {
    const cipher = cipherOf();
    for (const length of [0, 1, 15, 16, 17, 4096, 100_000]) {
      const text = new SimRandom(length).bytes(length);
      const { bytes, seal } = sealed(text, cipher);
      assert.equal(bytes.length, length);
      if (length > 8) assert.notEqual(toHex(bytes), toHex(text));
      assert.equal(toHex(cipher.open(bytes, ASSOCIATED, seal) ?? utf8("none")), toHex(text));
    }
  });

  it("opens nothing when a bit of text, seal or associated bytes is another, or the key is", () => {
    const cipher = cipherOf();
    const { bytes, seal } = sealed(utf8("a text"), cipher);
    const places = [bytes, seal, ASSOCIATED.slice()] as const;
    const open = () => cipher.open(bytes, places[2], seal);
    for (const place of places) {
      for (let index = 0; index < place.length; index += 1) {
        const byte = place[index] ?? 0;
        place[index] = byte ^ 0x10;
        assert.equal(open(), undefined);
        place[index] = byte;
      }
    }
    assert.ok(open());
    assert.equal(cipherOf(new Uint8Array(32).fill(8)).open(bytes, ASSOCIATED, seal), undefined);
  });

  it("never seals two texts alike, over renewals of the derived key and from one process to the next", () => {
    const nonces = new Set<string>();
    const counts = [
      [1, 65_546],
      [2, 10],
    ] as const;
    for (const [seed, count] of counts) {
      const cipher = cipherOf(KEY, seed);
      const seal = new Uint8Array(SEAL_LENGTH);
      for (let index = 0; index < count; index += 1) {
        cipher.seal(ASSOCIATED, ASSOCIATED, seal);
        nonces.add(toHex(seal.subarray(0, 24)));
      }
    }
    assert.equal(nonces.size, 65_556);
  });

  it("takes a key of 32 bytes only", () => {
    assert.throws(() => cipherOf(new Uint8Array(16)), InvariantError);
  });
});
