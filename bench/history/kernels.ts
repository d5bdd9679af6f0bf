// The two WebAssembly kernels, on one thread: the correlation matrix of a thousand strategies beside numpy's and beside a
// plain loop, and the rows of a series beside the same table written column by column.
import { join } from 'node:path'
import { renderJson } from '#core/dataset/render/json.ts'
import { seriesTable } from '#core/dataset/resources/returns.ts'
import { correlationMatrix } from '#core/figures/correlation.ts'
import type { Series } from '#core/figures/series.ts'
import { createRandom } from '#pipeline/sample/random.ts'
import { median } from '../harness/load.ts'
import { runPython } from '../harness/programs.ts'
import { atMost, type Figure, plain, type Section } from '../harness/report.ts'

const SERIES = 1000
const POINTS = 3650
const ROUNDS = 5
const TARGET = 2

/** A series of eleven years of days, rendered so many times in a round. */
const ROWS = 4000
const ROW_RUNS = 200

/** Rows of the matrix that the plain loop computes: the whole would take longer than everything else here. */
const PLAIN_ROWS = 50

export async function measureKernels(): Promise<Section> {
  const random = createRandom(1)
  const series = Array.from({ length: SERIES }, () => randomSeries(POINTS, random))
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
    title: 'Kernels',
    about:
      `Correlation: ${SERIES} series of ${POINTS} points on one thread, from the series to the whole matrix, checks of every ` +
      `number included; numpy's \`corrcoef\` with OpenBLAS. Rows: ${ROWS} rows of a date and a number as JSON. Processor ` +
      `time, medians of ${ROUNDS} rounds in turns; of rows, ${ROW_RUNS} times in a round.`,
    figures: [
      plain('correlation: ours', median(ours), 's'),
      plain('correlation: numpy', median(theirs), 's'),
      plain('correlation: a plain TypeScript loop, products alone', median(loops), 's'),
      atMost('correlation: ours to numpy', median(ratios), TARGET, 'times'),
      ...measureRows(randomSeries(ROWS, random)),
    ],
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
