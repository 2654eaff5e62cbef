/** Addresses of the machine itself, as hosts or as `host:port` of a peer. */
const LOOPBACK = /^(?:localhost|\[?(?:::1|(?:::ffff:)?127\.\d+\.\d+\.\d+)\]?)(?::\d+)?$/i;

/** True when what is sent to or comes from this address never leaves the machine. */
export function isLoopback(address: string): boolean {
  return LOOPBACK.test(address);
}
