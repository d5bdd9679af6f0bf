// On one thread: the correlation matrix of a thousand strategies, and the rows of a series, which a kernel in WebAssembly
// writes, beside the same table written column by column.
import { renderJson } from '#core/dataset/render/json.ts'
import { seriesTable } from '#core/dataset/resources/returns.ts'
import { correlationMatrix } from '#core/figures/correlation.ts'
import type { Series } from '#core/figures/series.ts'
import { createRandom } from '#pipeline/sample/random.ts'
import { median } from '../harness/load.ts'
import { type Figure, plain, type Section } from '../harness/report.ts'

const SERIES = 1000
const POINTS = 3650
const ROUNDS = 5

/** A series of eleven years of days, rendered so many times in a round. */
const ROWS = 4000
const ROW_RUNS = 200

export async function measureKernels(): Promise<Section> {
  const random = createRandom(1)
  const series = Array.from({ length: SERIES }, () => randomSeries(POINTS, random))
  const correlated = Array.from({ length: ROUNDS }, () => processorSeconds(() => correlationMatrix(series)))
  return {
    title: 'Kernels',
    about:
      `Correlation: ${SERIES} series of ${POINTS} points on one thread, from the series to the whole matrix, checks of every ` +
      `number included. Rows: ${ROWS} rows of a date and a number as JSON. Processor time, medians of ${ROUNDS} rounds; of ` +
      `rows in turns, ${ROW_RUNS} times in a round.`,
    figures: [plain('correlation', median(correlated), 's'), ...measureRows(randomSeries(ROWS, random))],
  }
}

function randomSeries(points: number, random: ReturnType<typeof createRandom>): Series {
  return {
    period: 'daily',
    first: 0,
    values: Float64Array.from({ length: points }, () => 0.01 * random.normal()),
  }
}

/** The rows of a series as the kernel writes them, and as a table without a known series is written. */
function measureRows(series: Series): Figure[] {
  const table = seriesTable(series, 'ret')
  const { series: _known, ...columns } = table
  const [kernel, script]: [number[], number[]] = [[], []]
  for (let round = -1; round < ROUNDS; round++) {
    for (const [times, given] of [
      [kernel, table],
      [script, columns],
    ] as const) {
      const seconds = processorSeconds(() => {
        for (let i = 0; i < ROW_RUNS; i++) renderJson(given)
      })
      if (round >= 0) times.push((seconds / ROW_RUNS) * 1e6)
    }
  }
  return [plain('rows: ours', median(kernel), 'us'), plain('rows: in TypeScript', median(script), 'us')]
}

function processorSeconds(work: () => unknown): number {
  const before = process.threadCpuUsage()
  work()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1e6
}
