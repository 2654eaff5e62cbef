/** Most letters that may be wrong: more than that is another word. */
const DISTANCE_MAX = 3;

/** The name that `given` was most likely meant to be; undefined when none is near. */
export function nearestName(given: string, names: readonly string[]): string | undefined {
  let nearest: string | undefined;
  // A short word is nearly every other one, so at most a third of it may differ.
  let least = Math.min(DISTANCE_MAX, Math.floor(given.length / 3)) + 1;
  for (const name of names) {
    const distance = editDistance(given, name);
    if (distance >= least) continue;
    least = distance;
    nearest = name;
  }
  return nearest;
}

/** Letters to add, drop or change to make one text from another (Levenshtein). */
function editDistance(from: string, to: string): number {
  let above = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 1; row <= from.length; row++) {
    const line = [row];
    for (let column = 1; column <= to.length; column++) {
      const changed = from[row - 1] === to[column - 1] ? 0 : 1;
      const cost = Math.min(
        (above[column] ?? 0) + 1,
        (line[column - 1] ?? 0) + 1,
        (above[column - 1] ?? 0) + changed,
      );
      line.push(cost);
    }
    above = line;
  }
  return above[to.length] ?? 0;
}
