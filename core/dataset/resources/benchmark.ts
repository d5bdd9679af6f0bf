import { z } from 'zod'
import { DEFAULT_PARAMS, FORMATS } from '#core/contract/parameters.ts'
import { byName, isoDate, list, record, records } from '#core/contract/payloads/field.ts'
import { BOOK_COLUMN, equalWeightBookOf } from '../equal-weight-book.ts'
import { wideTable } from './export.ts'
import { datasetRoute } from './resource.ts'

const BENCHMARK_NOTE =
  'Daily returns of holding each instrument without costs, from the first to the last day of the strategies on it: the ' +
  'last close of a UTC day over the last close before it, of the first day of the bars over its first open; a day without bars ' +
  'returns 0. '

const BOOK_NOTE =
  `${BOOK_COLUMN} is the mean of the base returns of the strategies alive on each day, and 0 on a day without any; a new ` +
  'strategy changes its past.'

const NO_BENCHMARK_NOTE =
  'No instrument has bars in this version, the operator turned the comparison off, or an older program made the version. '

export const benchmarkTable = () =>
  record('Holding the instruments, and the equal-weight book, side by side.', {
    instruments: list('The instruments, in the order of the catalogue.', z.string()),
    rows: records('A row a day, ascending.', {
      t: isoDate('UTC day of the returns.'),
      rets: byName(
        'Return of each instrument and of the equal-weight book, a fraction; an instrument without bars on the day or before has no key.',
        z.number(),
      ),
    }),
  }).meta({ id: 'Benchmark' })

export const benchmark = datasetRoute({
  id: 'benchmark',
  path: '/v1/benchmark',
  title: 'Benchmark',
  about:
    'Daily returns of what strategies are compared with: holding each instrument, and the equal-weight book.',
  formats: FORMATS,
  published: ['json', 'csv'],
  isRiskFree: true,
  data: benchmarkTable,
  example: { path: '/v1/benchmark' },
  handler: snapshot => {
    const { benchmarks } = snapshot
    const held = benchmarks.map(({ instrument, daily }) => ({ name: instrument, series: daily }))
    const book = { name: BOOK_COLUMN, series: equalWeightBookOf(snapshot).published }
    const table = wideTable([...held, book], DEFAULT_PARAMS)
    return {
      data: { instruments: benchmarks.map(({ instrument }) => instrument), rows: table },
      table,
      meta: { note: (benchmarks.length === 0 ? NO_BENCHMARK_NOTE : BENCHMARK_NOTE) + BOOK_NOTE },
    }
  },
})
