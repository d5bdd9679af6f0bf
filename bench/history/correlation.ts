// The correlation matrix of a thousand strategies beside numpy's, each on one thread.
import { join } from 'node:path'
import { correlationMatrix } from '#core/numerics/assemble-correlation.ts'
import type { Series } from '#core/numerics/series.ts'
import { createRandom } from '#pipeline/sample/random.ts'
import { runPython } from '../harness/python.ts'
import { atMost, plain, type Section } from '../harness/report.ts'
import { median } from '../harness/rounds.ts'

const SERIES = 1000
const POINTS = 3650
const ROUNDS = 5
const TARGET = 2

export async function measureCorrelation(): Promise<Section> {
  const random = createRandom(1)
  const series = Array.from({ length: SERIES }, (): Series => {
    const values = Float64Array.from({ length: POINTS }, () => 0.01 * random.normal())
    return { period: 'daily', first: 0, values }
  })
  const ratios: number[] = []
  const ours: number[] = []
  const theirs: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const before = process.threadCpuUsage()
    correlationMatrix(series)
    const { user, system } = process.threadCpuUsage(before)
    const script = join(import.meta.dirname, 'corrcoef.py')
    const numpy = median(await runPython(script, [SERIES, POINTS, 3].map(String)))
    ours.push((user + system) / 1e6)
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
      atMost('ours to numpy', median(ratios), TARGET, 'times'),
    ],
  }
}
