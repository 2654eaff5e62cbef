import { Violation } from "./oracle/violation.ts";

/**
 * Waits for one phase of a round, but not for ever.
 *
 * @throws Violation server when it takes longer than `limitMs`
 */
export async function withinTime<T>(phase: string, limitMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Violation("server", `${phase} did not end within ${limitMs} ms`)),
      limitMs,
    );
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
