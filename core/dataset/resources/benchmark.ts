import { z } from 'zod'
import { DEFAULT_PARAMS } from '#core/contract/parameters.ts'
import { isoDate } from '#core/contract/payloads/field.ts'
import { wideTable } from './export.ts'
import { datasetRoute } from './resource.ts'

const BENCHMARK_NOTE =
  'Daily returns of holding each instrument without costs, from the first to the last day of the strategies on it: the ' +
  'last close of a UTC day over the last close before it, of the first day of the bars over its first open; a day without bars ' +
  'returns 0.'

const NO_BENCHMARK_NOTE =
  'No instrument has bars in this version, the operator turned the comparison off, or an older program made the version.'

export const benchmarkTable = () =>
  z
    .looseObject({
      instruments: z.array(z.string()).describe('The instruments, in the order of the catalogue.'),
      rows: z
        .array(
          z.looseObject({
            t: isoDate('UTC day of the returns.'),
            rets: z
              .record(z.string(), z.number())
              .describe(
                'Return of each instrument, a fraction; one without bars on the day or before has no key.',
              ),
          }),
        )
        .describe('A row a day, ascending; empty without a benchmark.'),
    })
    .describe('Holding the instruments, side by side.')
    .meta({ id: 'Benchmark' })

export const benchmark = datasetRoute({
  id: 'benchmark',
  path: '/v1/benchmark',
  title: 'Benchmark',
  about: 'Daily returns of holding each instrument, with which the strategies on it are compared.',
  formats: ['json', 'csv'],
  data: benchmarkTable,
  example: { path: '/v1/benchmark' },
  handler: ({ benchmarks }) => {
    const columns = benchmarks.map(({ instrument, daily }) => ({ name: instrument, series: daily }))
    const table = wideTable(columns, DEFAULT_PARAMS)
    return {
      data: { instruments: benchmarks.map(({ instrument }) => instrument), rows: table },
      table,
      meta: { note: benchmarks.length === 0 ? NO_BENCHMARK_NOTE : BENCHMARK_NOTE },
    }
  },
})
