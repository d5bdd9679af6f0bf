import fc from 'fast-check'

/** The same values in every run, so that none fails by chance. `SEED=2 vitest run` draws others. */
const SEED = Number(process.env.SEED ?? 1)

const RUNS = 100

/** Values to draw and, last, what must hold for them; it may also answer `false`, which takes a tenth of the time of `expect`. */
type Law<Values extends unknown[], Result> = [
  ...values: { [Index in keyof Values]: fc.Arbitrary<Values[Index]> },
  law: (...values: Values) => Result,
]

type Some = [unknown, ...unknown[]]

/** Checks a law on random values: on as many as the first argument says, or on a hundred. */
export function forAll<Values extends Some>(runs: number, ...law: Law<Values, void>): void
export function forAll<Values extends Some>(...law: Law<Values, void>): void
export function forAll(...given: readonly unknown[]): void {
  const [numRuns, law] = typeof given[0] === 'number' ? [given[0], given.slice(1)] : [RUNS, given]
  fc.assert(fc.property(...(law as Law<Some, void>)), { seed: SEED, numRuns }) // what the signatures take
}

/** The same for a law that takes time. */
export async function forAllInTurn<Values extends Some>(
  numRuns: number,
  ...law: Law<Values, Promise<void>>
): Promise<void> {
  await fc.assert(fc.asyncProperty(...law), { seed: SEED, numRuns })
}
