import { type AddressInfo, createServer, type Server } from "node:net";

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

function hold(): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => resolve(server));
  });
}
