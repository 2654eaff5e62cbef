import { SimRandom } from "@millrace/platform/sim";

/** Repeatable chance in the forms that faults and delays need. */
export class Chance extends SimRandom {
  /** A whole number in [min, max]. */
  between(min: number, max: number): number {
    return min + this.below(max - min + 1);
  }

  /** Exponentially distributed with the given mean, cut off at 20 times that. */
  exponential(mean: number): number {
    return Math.min(20 * mean, -Math.log(1 - this.fraction()) * mean);
  }

  /** One of the given values. */
  pick<T>(values: readonly T[]): T {
    return values[this.below(values.length)] as T;
  }

  /** A key of the table, each as likely as its weight. */
  weighted<K extends string>(weights: Readonly<Record<K, number>>): K {
    const entries = Object.entries(weights) as [K, number][];
    let rest = this.fraction() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [key, weight] of entries) {
      rest -= weight;
      if (rest < 0) return key;
    }
    return (entries.at(-1) as [K, number])[0];
  }

  /** The values in another order. */
  shuffled<T>(values: readonly T[]): T[] {
    const rest = [...values];
    return Array.from(values, () => rest.splice(this.below(rest.length), 1)[0] as T);
  }

  /** A generator of its own for one part, so that parts do not disturb each other. */
  fork(): Chance {
    return new Chance(this.below(2 ** 32));
  }
}
