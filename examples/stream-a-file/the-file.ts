import { createReadStream } from "node:fs";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const PACKAGE = "@ip-location-db/geo-whois-asn-country";

/** A real CSV file (public domain): the country of every range of IPv4 addresses, one range a line. */
export const FILE = createRequire(import.meta.url).resolve(`${PACKAGE}/geo-whois-asn-country-ipv4.csv`);

/** The lines of the file, in order. */
export function linesOfFile(): AsyncIterable<string> {
  return createInterface({ input: createReadStream(FILE), crlfDelay: Number.POSITIVE_INFINITY });
}

/** The key of a line: its country, the last of its three columns. */
export function keyOf(line: string): string {
  return line.slice(line.lastIndexOf(",") + 1);
}
