export type Random = ReturnType<typeof createRandom>

/**
 * Seeded random numbers, the same on every machine: `uniform` in (0, 1), never 0, so that its logarithm is
 * finite, and standard `normal`. xorshift128 (G. Marsaglia, Xorshift RNGs, Journal of Statistical Software 8,
 * 2003): 32-bit integers alone, so that no rounding of the machine enters. Good enough to draw prices with;
 * no use for secrets. The seed is any 32-bit integer.
 */
export function createRandom(seed: number) {
  const state = Uint32Array.of(123456789, 362436069, 521288629, (seed ^ 88675123) >>> 0)

  function next(): number {
    const [x = 0, y = 0, z = 0, w = 0] = state
    const t = x ^ (x << 11)
    state.set([y, z, w, w ^ (w >>> 19) ^ t ^ (t >>> 8)])
    return state[3]!
  }
  const uniform = (): number => (next() + 0.5) / 2 ** 32

  for (let i = 0; i < WARM_UP_DRAWS; i++) next()
  return {
    uniform,
    // Box and Muller, 1958; the second of the pair is left out, which keeps no state between the calls.
    normal: (): number => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform()),
  }
}

/** Seeds that differ in one bit begin alike; after this many draws nothing of it is left. */
const WARM_UP_DRAWS = 64
