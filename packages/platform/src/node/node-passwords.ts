import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import type { Passwords } from "../platform.ts";

/** Cost of one hash: 2^logCost blocks of 128 * blockSize bytes, `parallel` times over. */
export interface ScryptCost {
  readonly logCost: number;
  readonly blockSize: number;
  readonly parallel: number;
}

/**
 * 16 MiB and some 40 ms of one core: dear for who guesses, bearable for a thousand clients that log in again.
 */
const DEFAULT_COST: ScryptCost = { logCost: 14, blockSize: 8, parallel: 1 };

/** The dearest cost a stored text may ask for, 128 MiB, so that a forged text cannot eat the memory. */
const COST_MAX: ScryptCost = { logCost: 17, blockSize: 8, parallel: 16 };

/** Hashes that run at once: they use threads that the disk needs too. The rest wait in order. */
const RUNNING_MAX = 2;

const SALT_LENGTH = 16;
const HASH_LENGTH = 32;
const STORED =
  /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]{16,88})\$([A-Za-z0-9+/]{43})$/;

/** Passwords by scrypt, stored as `$scrypt$ln=14,r=8,p=1$salt$hash` with base64 that has no padding. */
export function createNodePasswords(cost: ScryptCost = DEFAULT_COST): Passwords {
  const derive = bounded(RUNNING_MAX);
  return {
    async hash(password) {
      const salt = randomBytes(SALT_LENGTH);
      const hash = await derive(() => runScrypt(password, salt, cost));
      const { logCost, blockSize, parallel } = cost;
      return `$scrypt$ln=${logCost},r=${blockSize},p=${parallel}$${unpadded(salt)}$${unpadded(hash)}`;
    },
    async verify(password, stored) {
      const parsed = parseStored(stored);
      if (parsed === undefined) return false;
      const hash = await derive(() => runScrypt(password, parsed.salt, parsed.cost));
      return timingSafeEqual(hash, parsed.hash);
    },
  };
}

function parseStored(stored: string): { cost: ScryptCost; salt: Buffer; hash: Buffer } | undefined {
  const [, logCost, blockSize, parallel, salt, hash] = STORED.exec(stored) ?? [];
  if (salt === undefined || hash === undefined) return undefined;
  const cost = { logCost: Number(logCost), blockSize: Number(blockSize), parallel: Number(parallel) };
  if (!isAllowed(cost)) return undefined;
  return { cost, salt: Buffer.from(salt, "base64"), hash: Buffer.from(hash, "base64") };
}

function isAllowed(cost: ScryptCost): boolean {
  return (["logCost", "blockSize", "parallel"] as const).every(
    (key) => cost[key] > 0 && cost[key] <= COST_MAX[key],
  );
}

function runScrypt(password: string, salt: Buffer, cost: ScryptCost): Promise<Buffer> {
  const N = 2 ** cost.logCost;
  const options = { N, r: cost.blockSize, p: cost.parallel, maxmem: 2 * 128 * N * cost.blockSize };
  return new Promise((resolve, reject) => {
    scrypt(password, salt, HASH_LENGTH, options, (error, hash) =>
      error === null ? resolve(hash) : reject(error),
    );
  });
}

/** Runs at most `limit` tasks at once, the others in the order they came. */
function bounded(limit: number): <T>(task: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (task) => {
    if (running < limit) running++;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await task();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running--;
      else next();
    }
  };
}

function unpadded(bytes: Buffer): string {
  return bytes.toString("base64").replace(/=+$/, "");
}
