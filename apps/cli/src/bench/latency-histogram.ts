/** Buckets between two powers of two: a value is known to one part in 128, which is 0.8 %. */
const BUCKETS_PER_OCTAVE = 128;
/** 2^44 ns are nearly five hours; what took longer counts as that long, and `max` still tells the truth. */
const EXPONENT_MAX = 44;
const VALUE_MAX = 2 ** EXPONENT_MAX - 1;
/** Values below two octaves' worth have a bucket each; every further octave takes 128 more. */
const BUCKETS_TOTAL = bucketOf(VALUE_MAX) + 1;

/**
 * Counts of latencies in nanoseconds, in buckets whose width grows with the value.
 *
 * Memory is bounded however many values come: 4,864 counts, 38 KiB. Quantiles are within 0.8 % of the exact
 * ones; count, average, least and most are exact.
 */
export class LatencyHistogram {
  readonly #counts = new Float64Array(BUCKETS_TOTAL);
  #count = 0;
  #sum = 0;
  #min = Number.POSITIVE_INFINITY;
  #max = 0;

  get count(): number {
    return this.#count;
  }

  /** 0 without values. */
  get min(): number {
    return this.#count === 0 ? 0 : this.#min;
  }

  get max(): number {
    return this.#max;
  }

  /** 0 without values. */
  get average(): number {
    return this.#count === 0 ? 0 : this.#sum / this.#count;
  }

  /** Counts one value; a negative one, from a clock that is read twice, counts as 0. */
  record(nanos: number): void {
    const value = Math.max(0, Math.round(nanos));
    const bucket = bucketOf(Math.min(value, VALUE_MAX));
    this.#counts[bucket] = (this.#counts[bucket] as number) + 1;
    this.#count += 1;
    this.#sum += value;
    this.#min = Math.min(this.#min, value);
    this.#max = Math.max(this.#max, value);
  }

  /** Adds everything another one has counted. */
  add(other: LatencyHistogram): void {
    for (let bucket = 0; bucket < BUCKETS_TOTAL; bucket += 1) {
      this.#counts[bucket] = (this.#counts[bucket] as number) + (other.#counts[bucket] as number);
    }
    this.#count += other.#count;
    this.#sum += other.#sum;
    this.#min = Math.min(this.#min, other.#min);
    this.#max = Math.max(this.#max, other.#max);
  }

  /**
   * The least value that `part` of all values do not exceed, as the middle of its bucket.
   *
   * @param part  0 to 1; 0 asks for the least value, 1 for the most
   */
  quantile(part: number): number {
    const rank = Math.max(1, Math.ceil(part * this.#count));
    if (this.#count === 0) return 0;
    if (rank === this.#count) return this.#max;
    let seen = 0;
    for (let bucket = 0; bucket < BUCKETS_TOTAL; bucket += 1) {
      seen += this.#counts[bucket] as number;
      if (seen >= rank) return Math.min(this.#max, Math.max(this.#min, middleOf(bucket)));
    }
    return this.#max;
  }
}

function bucketOf(value: number): number {
  const shift = shiftOf(value);
  return shift * BUCKETS_PER_OCTAVE + Math.floor(value / 2 ** shift);
}

/** How many bits of a value its bucket does not keep. */
function shiftOf(value: number): number {
  if (value < BUCKETS_PER_OCTAVE * 2) return 0;
  const exponent = Math.floor(Math.log2(value));
  // The logarithm of a number close below a power of two may round up to it.
  const octave = 2 ** exponent > value ? exponent - 1 : exponent;
  return octave - Math.log2(BUCKETS_PER_OCTAVE);
}

function middleOf(bucket: number): number {
  if (bucket < BUCKETS_PER_OCTAVE * 2) return bucket;
  const shift = Math.floor(bucket / BUCKETS_PER_OCTAVE) - 1;
  const start = (bucket - shift * BUCKETS_PER_OCTAVE) * 2 ** shift;
  return start + (2 ** shift - 1) / 2;
}
