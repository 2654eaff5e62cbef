import { type AddressInfo, createServer, type Server } from "node:net";

/**
 * Ports of loopback that nobody listens on now. All are held until the last is found, so no two are the same;
 * another program may still take one before it is used.
 */
export async function freePorts(count: number, host: string): Promise<number[]> {
  const held = await Promise.all(Array.from({ length: count }, () => hold(host)));
  const ports = held.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(held.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

function hold(host: string): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, host, () => resolve(server));
  });
}
