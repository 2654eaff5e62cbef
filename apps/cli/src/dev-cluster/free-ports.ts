import { type AddressInfo, createServer, type Server } from "node:net";

/**
 * Ports of loopback that nobody listens on now: those that are wanted, and in place of each that is taken, or
 * of 0, another one. All are held until the last is found, so no two are the same; another program may still
 * take one before it is used.
 */
export async function freePorts(wanted: readonly number[], host: string): Promise<number[]> {
  const asked = await Promise.all(wanted.map((port) => hold(host, port).catch(() => undefined)));
  const held = await Promise.all(asked.map((server) => server ?? hold(host, 0)));
  const ports = held.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(held.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

function hold(host: string, port: number): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(port, host, () => resolve(server));
  });
}
