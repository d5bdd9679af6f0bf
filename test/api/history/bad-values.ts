// What a caller may get wrong in a query: for every parameter every kind of bad value, and its refusal. The suggestions
// at the end of reasons are those of `MEANT`.
import type { Format, QueryName } from '#core/contract/parameters.ts'

/** A bad value of a parameter: the query that holds it, and how it must be refused. */
export type Bad = { readonly query: string; readonly value: string; readonly reason: string }

const bad = (name: QueryName, reason: string, values: readonly string[]): Bad[] =>
  values.map(value => ({ query: `${name}=${encodeURIComponent(value)}`, value, reason }))

const twice = (name: QueryName, value: string): Bad => ({
  query: `${name}=${value}&${name}=${value}`,
  value: `${value},${value}`,
  reason: 'given more than once',
})

const badDates = (name: 'from' | 'to'): Bad[] => [
  ...bad(name, 'must be a calendar date YYYY-MM-DD', [
    ...['', ' '],
    ...'yesterday 2024 2024-02 2024-2-1 2024-02-30 2023-02-29 2024-13-01 2024-00-10 20240201'.split(' '),
    ...['01-02-2024', '2024-02-01T00:00:00Z', ' 2024-02-01', '2024-02-01\n', '+002024-02-01'],
    '\u0662\u0660\u0662\u0664-\u0660\u0662-\u0660\u0661', // digits, but not ours
  ]),
  twice(name, '2024-02-01'),
]

/** Bad values of every kind, for every parameter that there is. */
export const BAD: { readonly [Name in QueryName]: readonly Bad[] } = {
  period: [
    ...bad('period', 'must be one of daily, weekly', ['', ' ', 'monthly', 'Daily', 'daily ', 'daily,weekly']),
    twice('period', 'weekly'),
  ],
  format: [
    ...bad('format', 'must be one of the formats of the route', ['', 'csv ']),
    ...bad('format', 'must be one of the formats of the route', ['xml', 'CSV', 'json,csv', '__proto__']),
    twice('format', 'csv'),
  ],
  risk_pct: [
    ...bad('risk_pct', 'must be a plain decimal number such as 0.02', [
      ...['', ' '],
      ...'two 2% +0.02 .5 5. 0,02 1_000 0x10 0b1 1e 1e+2 e2 1.2.3 NaN Infinity -Infinity null --1'.split(' '),
      ...[' 0.02', '0.02\u0000', '\u0661', '1.1 %', '0%', '1.2.3%'],
    ]),
    ...bad('risk_pct', 'must be a finite number', ['1e309', '2e999']),
    ...bad('risk_pct', 'must be greater than 0', ['0', '0.0', '-0', '0e5', '-0.02', '-1e9', '1e-400']),
    ...bad('risk_pct', 'must be at least 0.000000001', ['1e-10', '0.00000000099', '1e-300', '5e-324']),
    twice('risk_pct', '0.02'),
  ],
  from: badDates('from'),
  to: badDates('to'),
  ids: [
    ...bad('ids', 'must name strategies, without blanks', ['', ' ', ',', 'ash,', ',ash']),
    ...bad('ids', 'must name strategies, without blanks', ['ash,,yew', 'ash, ,yew']),
  ],
}

/**
 * The problem as `details` of a route with these formats must have it: exactly these fields, `allowed` only where it is
 * a short list.
 */
export function problem(param: QueryName, { value, reason }: Bad, formats: readonly Format[]) {
  const meant = new Map(Object.entries(MEANT[param] ?? {})).get(value)
  const question = meant === undefined ? '' : `; did you mean ${meant}?`
  if (!reason.startsWith('must be one of')) return { param, value, reason: reason + question }
  const allowed = param === 'format' ? formats : ['daily', 'weekly']
  return { param, value, reason: `must be one of ${allowed.join(', ')}${question}`, allowed }
}

/** What a bad value probably means. */
const MEANT: { readonly [Name in QueryName]?: Readonly<Record<string, string>> } = {
  period: { Daily: 'daily', 'daily ': 'daily', 'daily,weekly': 'weekly' },
  format: { CSV: 'csv', 'csv ': 'csv', 'json,csv': 'json' },
  risk_pct: { '2%': '0.02', '1.1 %': '0.011', '+0.02': '0.02', ' 0.02': '0.02', '.5': '0.5', '0,02': '0.02' },
}
