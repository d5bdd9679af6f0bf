// The correlation matrix of a thousand strategies beside numpy's, each on one thread.
import { join } from 'node:path'
import { correlationMatrix } from '#core/figures/correlation.ts'
import type { Series } from '#core/figures/series.ts'
import { createRandom } from '#pipeline/sample/random.ts'
import { runPython } from '../harness/python.ts'
import { atMost, plain, type Section } from '../harness/report.ts'
import { median } from '../harness/rounds.ts'

const SERIES = 1000
const POINTS = 3650
const ROUNDS = 5
const TARGET = 2

/** Rows of the matrix that the plain loop computes: the whole would take longer than everything else here. */
const PLAIN_ROWS = 50

export async function measureCorrelation(): Promise<Section> {
  const random = createRandom(1)
  const series = Array.from({ length: SERIES }, (): Series => {
    const values = Float64Array.from({ length: POINTS }, () => 0.01 * random.normal())
    return { period: 'daily', first: 0, values }
  })
  const ratios: number[] = []
  const ours: number[] = []
  const theirs: number[] = []
  const loops: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    ours.push(processorSeconds(() => correlationMatrix(series)))
    loops.push(plainLoop(series))
    const script = join(import.meta.dirname, 'corrcoef.py')
    const numpy = median(await runPython(script, [SERIES, POINTS, 3].map(String)))
    theirs.push(numpy)
    ratios.push(ours.at(-1)! / numpy)
  }
  return {
    title: 'Correlation',
    about:
      `${SERIES} series of ${POINTS} points on one thread, from the series to the whole matrix, checks of every number ` +
      `included; numpy's \`corrcoef\` with OpenBLAS. Processor time, medians of ${ROUNDS} rounds in turns.`,
    figures: [
      plain('ours', median(ours), 's'),
      plain('numpy', median(theirs), 's'),
      plain('a plain TypeScript loop, products alone', median(loops), 's'),
      atMost('ours to numpy', median(ratios), TARGET, 'times'),
    ],
  }
}

function processorSeconds(work: () => unknown): number {
  const before = process.threadCpuUsage()
  work()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1e6
}

function dot(x: Float64Array, y: Float64Array): number {
  let sum = 0
  for (let i = 0; i < x.length; i++) sum += x[i]! * y[i]!
  return sum
}

/** Processor seconds of all products one by one, estimated from those of the first rows. */
function plainLoop(series: readonly Series[]): number {
  let cells = 0
  let sum = 0 // asked for below, so that no product is left out
  const seconds = processorSeconds(() => {
    for (let i = 0; i < PLAIN_ROWS; i++) {
      for (let j = i + 1; j < SERIES; j++, cells++) sum += dot(series[i]!.values, series[j]!.values)
    }
  })
  if (!Number.isFinite(sum)) throw new Error(`the products of the plain loop must be finite, got ${sum}`)
  return (seconds * SERIES * (SERIES - 1)) / 2 / cells
}
