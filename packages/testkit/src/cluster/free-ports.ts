import { randomInt } from "node:crypto";
import { type AddressInfo, createServer, type Server } from "node:net";

/**
 * Where ports are looked for: below those that Linux (32768) and others give to connections that ask for
 * none, for such a connection takes a port between the look and the use now and then, and keeps it.
 */
const FIRST = 20_000;
const END = 32_000;
const TRIES_MAX = 100;

/**
 * Loopback ports that were free a moment ago. All are held until the last is found, so that they differ;
 * another program may still take one before it is used.
 */
export async function freePorts(count: number): Promise<number[]> {
  const held = await Promise.all(Array.from({ length: count }, hold));
  const ports = held.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(held.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

/** One such port. */
export async function freePort(): Promise<number> {
  const [port = 0] = await freePorts(1);
  return port;
}

async function hold(): Promise<Server> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await listen(randomInt(FIRST, END));
    } catch (error) {
      if (tries === TRIES_MAX) throw error;
    }
  }
}

function listen(port: number): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => resolve(server));
  });
}
