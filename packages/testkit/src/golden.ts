import { readFileSync } from "node:fs";

/** One recorded case: what goes in and the exact bytes that must come out. Fields differ by group. */
export interface GoldenCase {
  readonly name: string;
  readonly group: string;
  // biome-ignore lint/suspicious/noExplicitAny: the shape differs by group and each test knows its own.
  readonly input: any;
  // biome-ignore lint/suspicious/noExplicitAny: present in groups whose result is not a byte sequence.
  readonly expected?: any;
  readonly expected_hex?: string;
  readonly length?: number;
}

/** One frame recorded from an official client, header and body. */
export interface CapturedFrame {
  readonly name: string;
  readonly description: string;
  readonly length: number;
  readonly operation: number;
  readonly command_code: number | null;
  readonly request: number;
  readonly session: number;
  readonly body_offset: number;
  readonly hex: string;
}

function read(name: string): string {
  return readFileSync(new URL(`../testdata/iggy-0.9.0/${name}`, import.meta.url), "utf8");
}

/** All golden cases, or those of one group, in the order of the file. */
export function goldenCases(group?: string): readonly GoldenCase[] {
  const { cases } = JSON.parse(read("vectors.json")) as { cases: GoldenCase[] };
  return group === undefined ? cases : cases.filter((one) => one.group === group);
}

/** The golden case called `name`. */
export function goldenCase(name: string): GoldenCase {
  const found = goldenCases().find((one) => one.name === name);
  if (found === undefined) throw new Error(`No golden case is called ${name}`);
  return found;
}

/** Every captured frame of the official Node SDK. */
export function capturedFrames(): readonly CapturedFrame[] {
  return (JSON.parse(read("captures-node-sdk.json")) as { captures: CapturedFrame[] }).captures;
}
