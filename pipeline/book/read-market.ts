import { sum } from 'simple-statistics'
import { DAY_MS } from '#core/calendar.ts'
import { type FundingInterval, toShared } from '#core/replay/bars.ts'
import {
  type FundingGap,
  fundingGaps,
  fundingIntervals,
  GAP_FACTOR,
  intervalAt,
  missingPayments,
} from '#core/replay/funding-coverage.ts'
import type { BarsFile, BarsKey, FundingFile, SoundParts } from './book.ts'
import { explainMoment, explainOrder, parseDecimal, parseMoment, spellMoment } from './cell.ts'
import { counted, got, hint, listed } from './field.ts'
import { explainMissing, type Folder, filesUnder, listFolder, tableAt, tableNames } from './folder.ts'
import { BookError, type Problem } from './problem.ts'
import { readBars } from './read-bars.ts'
import { CATALOGUE_FILE, type Catalogue, type Claim } from './read-catalogue.ts'
import { createReading, type Reading } from './reading.ts'
import { readTable } from './table.ts'
import { TIMEFRAMES, type Timeframe } from './timeframe.ts'

/** The bars of a module's timeframe or a ledger's `mark`; null for returns. One set each, because two may disagree on a close. */
export function barsKeyOf({ source, instrument, timeframe: own, mark }: Partial<Claim>): BarsKey | null {
  const timeframe = source === 'module' ? own : source === 'ledger' ? mark : null
  return timeframe && instrument ? `${instrument}/${timeframe}` : null
}

/** Reads each set of bars that strategies need once; a missing set or instrument is a problem. Returns the sound ones. */
export async function readAllBars(reading: Reading, folder: Folder, claims: readonly Claim[]) {
  const bars = new Map<BarsKey, BarsFile>()
  const known = instrumentsIn(folder)
  const wanting = claims.filter(claim => barsKeyOf(claim) !== null)
  const idsOf = (users: readonly Claim[]): string => listed(users.map(({ id }) => id))
  for (const [instrument = '', users] of Map.groupBy(wanting, claim => claim.instrument))
    if (!known.includes(instrument))
      users[0]!.report('instrument', explainUnknown(instrument, known, `, for ${idsOf(users)}`))
  for (const [key, users] of Map.groupBy(wanting, claim => barsKeyOf(claim)!)) {
    const file = await readBarsOf(reading, folder, key)
    if (file) bars.set(key, file)
    if (file !== undefined || !known.includes(instrumentOf(key))) continue
    const expected = `bars for ${idsOf(users)}, plain or .csv.gz`
    const message = explainMissing(folder, expected, `bars/${instrumentOf(key)}`)
    reading.problems.add({ file: `bars/${key}.csv`, message })
  }
  return bars
}

/** Reads one set of bars. Undefined if there is none, null if it has problems. */
export async function readBarsOf(reading: Reading, folder: Folder, key: BarsKey) {
  const path = tableAt(reading, folder, `bars/${key}`)
  if (path === null) return undefined
  const timeframe = key.slice(key.lastIndexOf('/') + 1) as Timeframe // by the type of the key
  const file = await readBars(reading, path, timeframe)
  return reading.problems.has(path) ? null : file
}

/** The bars of an instrument in an unfinished book, null if there are none. Throws for several without a timeframe, or problems. */
export async function findBars(dir: string, instrument: string, timeframe: Timeframe | null) {
  const reading = createReading(dir)
  const folder = await listFolder(reading)
  const [key, ...others] = (timeframe === null ? TIMEFRAMES : [timeframe])
    .map((each): BarsKey => `${instrument}/${each}`)
    .filter(each => tableNames(`bars/${each}`).some(path => folder.has(path)))
  if (key === undefined) return null
  const sets = listed([key, ...others])
  if (others.length > 0)
    throw new Error(`expected one set of bars of ${instrument}, got ${sets}: choose with --mark`)
  const file = await readBarsOf(reading, folder, key)
  if (file) return file
  throw new BookError(dir, reading.problems.sorted())
}

export const instrumentOf = (key: BarsKey): string => key.slice(0, key.lastIndexOf('/'))

/** The instruments that have a table of bars, of whatever timeframe. */
export const instrumentsIn = (folder: Folder): string[] => [
  ...new Set(
    filesUnder(folder, 'bars').flatMap(path => /^([^/]+)\/[^/]+\.csv(?:\.gz)?$/.exec(path)?.slice(1) ?? []),
  ),
]

/** Why an instrument cannot be used; `users` names the strategies, such as `, for alder`. */
export function explainUnknown(instrument: string, known: readonly string[], users = ''): string {
  const others = known.length === 0 ? 'there are no bars at all' : hint(instrument, known, 'instrument')
  return `expected an instrument with bars under bars/${users}, got ${got(instrument)}; ${others}`
}

/**
 * Reads the funding of every instrument that is replayed or marked here. An instrument without a file must be stated to
 * have none, because a perpetual without its funding would omit a cost. Returns the sound ones.
 */
export async function readAllFunding(reading: Reading, folder: Folder, catalogue: Catalogue) {
  const { claims, funding: statements } = catalogue
  const funding = new Map<string, FundingFile>()
  const known = instrumentsIn(folder)
  const traded = claims.filter(({ source }) => source !== 'returns')
  for (const [instrument = '', users] of Map.groupBy(traded, claim => claim.instrument)) {
    if (!known.includes(instrument)) continue // reported, because it has no bars
    const path = tableAt(reading, folder, `funding/${instrument}`)
    const stated = statements?.get(instrument)
    const none = `funding: { ${instrument}: none }`
    if (path === null) {
      const message =
        `expected the funding of ${instrument} for ${listed(users.map(({ id }) => id))}, plain or .csv.gz, got no such file; ` +
        `if ${instrument} has no funding, state it in ${CATALOGUE_FILE}: ${none}`
      if (statements !== null && stated !== 'none')
        reading.problems.add({ file: `funding/${instrument}.csv`, message })
    } else if (stated === 'none') {
      const message = `expected no such file, because ${CATALOGUE_FILE} states ${none}: correct one of them`
      reading.problems.add({ file: path, message })
    } else {
      const payments = await readFunding(reading, path, stated)
      if (!reading.problems.has(path)) funding.set(instrument, payments)
    }
  }
  return funding
}

/** Exchanges cap a payment at 2 to 4 % of notional; a larger number is in percent or basis points. */
const MAX_RATE = 0.1

/** Reads funding payments: `t` ascending; `rate` a fraction of notional, positive if longs pay. */
async function readFunding(reading: Reading, path: string, intervals?: readonly FundingInterval[]) {
  const [t, rate]: [number[], number[]] = [[], []]
  let before = Number.NaN // no order before the first row: every comparison with NaN is false

  await readTable(reading, path, { required: ['t', 'rate'] }, ([time = '', text = ''], row) => {
    const ms = parseMoment(time)
    const value = parseDecimal(text)
    const report = (message: string) => reading.problems.add({ file: path, row, message })
    if (Number.isNaN(ms)) report(`t: ${explainMoment(time)}`)
    else if (ms <= before) report(`t: ${explainOrder(ms, before)}`)
    else if (intervals !== undefined && isTooSoon(before, ms, intervals))
      report(
        `t: expected a payment every ${spellIntervals(intervals)}, as ${CATALOGUE_FILE} states under funding, got one at ` +
          `${spellMoment(ms)} after that of ${spellMoment(before)}; correct the statement or the file`,
      )
    if (!(Math.abs(value) <= MAX_RATE))
      report(
        `rate: expected a fraction of notional from -${MAX_RATE} to ${MAX_RATE} (0.0001 = 0.01 %), got ${got(text)}`,
      )
    if (!Number.isNaN(ms)) before = ms
    t.push(ms)
    rate.push(value)
  })
  const columns = { path, t: toShared(t), rate: toShared(rate) }
  return intervals === undefined ? columns : { ...columns, intervals }
}

/** `8h`. */
const spellInterval = (ms: number): string => `${ms / 3_600_000}h`

/** `8h, and 4h from 2023-10-01T00:00:00Z`. */
const spellIntervals = (list: readonly FundingInterval[]): string =>
  list
    .map(({ from, everyMs }, i) => `${spellInterval(everyMs)}${i === 0 ? '' : ` from ${spellMoment(from)}`}`)
    .join(', and ')

/** Whether two payments are closer than stated: a change of the interval may lie between them. False for the first. */
const isTooSoon = (before: number, ms: number, intervals: readonly FundingInterval[]): boolean =>
  !Number.isNaN(before) &&
  (ms - before) * GAP_FACTOR < Math.min(intervalAt(intervals, before), intervalAt(intervals, ms))

/** What the funding of each instrument lacks: a stated interval, payments at its beginning, and those of its gaps. */
export const fundingWarnings = ({ bars, funding }: Pick<SoundParts, 'bars' | 'funding'>): Problem[] =>
  [...funding].flatMap(([instrument, file]) => {
    const own = [...bars].filter(([key]) => instrumentOf(key) === instrument)
    const firstBar = Math.min(...own.map(([, { bars: market }]) => market.t[0]!))
    const first = file.t[0]!
    const interval = spellInterval(intervalAt(fundingIntervals(file), first))
    const inferred = `the interval of ${interval} is inferred, and a longer one counts as a gap: state it in ${CATALOGUE_FILE}, as funding: { ${instrument}: ${interval} }, with its changes if the exchange changed it`
    const messages = [
      ...(file.intervals === undefined ? [inferred] : []),
      ...(first - firstBar > DAY_MS ? [explainLate(first, firstBar)] : []),
      ...explainGaps(fundingGaps(file), file),
    ]
    return messages.map(message => ({ file: file.path, message }))
  })

const explainLate = (first: number, firstBar: number): string =>
  `begins at ${spellMoment(first)}, after the first bar at ${spellMoment(firstBar)}: positions before it are computed without funding`

function explainGaps(gaps: readonly FundingGap[], file: FundingFile): string[] {
  const [longest] = gaps.toSorted((a, b) => b.to - b.from - (a.to - a.from))
  if (longest === undefined) return []
  const span = `${spellMoment(longest.from)} to ${spellMoment(longest.to)}`
  const intervals = fundingIntervals(file)
  const missing = counted(sum(gaps.map(gap => missingPayments(gap, intervals))), 'payment')
  const what = `${counted(gaps.length, 'gap')}, the longest from ${span}, without ${missing} at ${spellIntervals(intervals)}`
  return [`has ${what}: positions in a gap are computed without funding`]
}
