/** What a round told: answers a second, and answers a second of the server's processor time. */
export type Round = { readonly perSecond: number; readonly perProcessorSecond: number }

/** What does a round of one side of a comparison. */
export type Side = () => Promise<Round>

/** Medians of the rounds of both sides, and the ratio of the first to the second. */
export type Compared = { readonly first: Round; readonly second: Round; readonly ratio: number }

export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!

/**
 * Rounds of two sides in turns, each time in the other order, after one that does not count. The ratio is that of
 * answers for the same processor time, the median over rounds side by side: what disturbs one disturbs its neighbour.
 * Where nothing disturbs, a server under full load has its core for itself, and the ratio of answers a second is the same.
 */
export async function compareSides(first: Side, second: Side, rounds: number): Promise<Compared> {
  const told: [Round[], Round[]] = [[], []]
  for (let i = -1; i < rounds; i++) {
    for (const side of i % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
      const round = await [first, second][side]!()
      if (i >= 0) told[side].push(round)
    }
  }
  return {
    first: medianRound(told[0]),
    second: medianRound(told[1]),
    ratio: median(told[0].map((round, i) => round.perProcessorSecond / told[1][i]!.perProcessorSecond)),
  }
}

const medianRound = (rounds: readonly Round[]): Round => ({
  perSecond: median(rounds.map(({ perSecond }) => perSecond)),
  perProcessorSecond: median(rounds.map(({ perProcessorSecond }) => perProcessorSecond)),
})
