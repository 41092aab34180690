// Numbers for generated scenes: the same for the same seed, everywhere.

/** Gives the next number of a sequence of [0, 1). */
export type Uniform = () => number;

/** Uniform numbers of [0, 1) from a seed (xorshift32, Marsaglia 2003). */
export function uniform(seed: number): Uniform {
  let state = (Math.imul(seed, 0x9e3779b1) ^ 0x5bd1e995) >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

/** Box-Muller. */
export const gaussian = (next: Uniform): number =>
  Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
