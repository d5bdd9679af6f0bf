import { DAY_MS } from '#core/calendar.ts'
import { type FundingGap, fundingGaps } from '#core/replay/funding-coverage.ts'
import type { BarsFile, BarsKey, FundingFile, SoundParts } from './book.ts'
import { explainMoment, explainOrder, parseDecimal, parseMoment, spellMoment, toShared } from './cell.ts'
import { got, listed, nearestTo } from './field.ts'
import { type Folder, filesUnder, tableAt } from './folder.ts'
import type { Problem } from './problem.ts'
import { readBars } from './read-bars.ts'
import type { Claim } from './read-catalogue.ts'
import type { Reading } from './reading.ts'
import { type Columns, readTable } from './table.ts'
import type { Timeframe } from './timeframe.ts'

/** The fields that determine the market data of a strategy; null for a field that is not valid. */
type Wants = Pick<Claim, 'source' | 'instrument' | 'timeframe' | 'mark'>

/**
 * The bars that replay and mark a strategy: on a module's own timeframe, on a ledger's `mark`; null for
 * reported returns, which need none. One set a strategy, because two sets may disagree on a close.
 */
export function barsKeyOf(wants: Wants): BarsKey | null {
  const timeframe = timeframeOf(wants)
  return timeframe === null || wants.instrument === null ? null : `${wants.instrument}/${timeframe}`
}

function timeframeOf({ source, timeframe, mark }: Wants): Timeframe | null {
  switch (source) {
    case 'module':
      return timeframe
    case 'ledger':
      return mark
    case 'returns':
      return null
  }
}

/**
 * Reads the bars that the strategies need, each set once; a set that is missing is a problem, and so is an
 * instrument without any. Returns the sound ones.
 */
export async function readAllBars(
  reading: Reading,
  folder: Folder,
  claims: readonly Claim[],
): Promise<ReadonlyMap<BarsKey, BarsFile>> {
  const bars = new Map<BarsKey, BarsFile>()
  const known = instrumentsIn(folder)
  reportUnknown(claims, known)
  for (const [key, users] of Map.groupBy(claims, barsKeyOf)) {
    const timeframe = users[0] === undefined ? null : timeframeOf(users[0])
    if (key === null || timeframe === null) continue
    const path = tableAt(reading, folder, `bars/${key}`)
    if (path === null) {
      if (known.includes(instrumentOf(key))) reportMissing(reading, folder, key, users)
      continue
    }
    const file = await readBars(reading, path, timeframe)
    if (!reading.problems.has(path)) bars.set(key, file)
  }
  return bars
}

/** Reads the funding of every instrument that a strategy trades and that has some. Returns the sound ones. */
export async function readAllFunding(
  reading: Reading,
  folder: Folder,
  claims: readonly Claim[],
): Promise<SoundParts['funding']> {
  const funding = new Map<string, FundingFile>()
  for (const instrument of tradedInstruments(claims)) {
    const path = tableAt(reading, folder, `funding/${instrument}`)
    if (path === null) continue
    const payments = await readFunding(reading, path)
    if (!reading.problems.has(path)) funding.set(instrument, payments)
  }
  return funding
}

/** The instruments of the strategies that are replayed or marked here. */
export const tradedInstruments = (claims: readonly Claim[]): ReadonlySet<string> =>
  new Set(
    claims.flatMap(({ source, instrument }) =>
      source === 'returns' || instrument === null ? [] : [instrument],
    ),
  )

/** What the funding of each instrument lacks: a feed that begins after the bars, and gaps in it. */
export const fundingWarnings = ({ bars, funding }: Pick<SoundParts, 'bars' | 'funding'>): Problem[] =>
  [...funding].flatMap(([instrument, file]) => {
    const own = [...bars].filter(([key]) => instrumentOf(key) === instrument)
    const firstBar = Math.min(
      ...own.map(
        ([
          ,
          {
            bars: { t },
          },
        ]) => t[0]!,
      ),
    )
    const first = file.t[0]!
    const messages = [
      ...(first - firstBar > DAY_MS ? [explainLate(first, firstBar)] : []),
      ...explainGaps(fundingGaps(file)),
    ]
    return messages.map(message => ({ file: file.path, message }))
  })

const explainLate = (first: number, firstBar: number): string =>
  `begins at ${spellMoment(first)}, after the first bar at ${spellMoment(firstBar)}: positions before it are computed ` +
  'without funding'

function explainGaps(gaps: readonly FundingGap[]): string[] {
  const [longest] = gaps.toSorted((a, b) => b.to - b.from - (a.to - a.from))
  if (longest === undefined) return []
  const span = `${spellMoment(longest.from)} to ${spellMoment(longest.to)}`
  const count = gaps.length === 1 ? `a gap from ${span}` : `${gaps.length} gaps, the longest from ${span}`
  return [`has ${count}: positions in it are computed without funding`]
}

const instrumentOf = (key: BarsKey): string => key.slice(0, key.lastIndexOf('/'))

/** The instruments that have a table of bars, of whatever timeframe. */
export const instrumentsIn = (folder: Folder): string[] => [
  ...new Set(
    filesUnder(folder, 'bars').flatMap(path => /^([^/]+)\/[^/]+\.csv(?:\.gz)?$/.exec(path)?.slice(1) ?? []),
  ),
]

/** Reported at the first strategy that trades it: one wrong name is one problem. */
function reportUnknown(claims: readonly Claim[], known: readonly string[]): void {
  const wanting = claims.filter(claim => barsKeyOf(claim) !== null)
  for (const [instrument, users] of Map.groupBy(wanting, claim => claim.instrument ?? '')) {
    if (known.includes(instrument)) continue
    const of = `, for ${listed(users.map(({ id }) => id))}`
    users[0]?.report('instrument', explainUnknown(instrument, known, of))
  }
}

/** Why an instrument cannot be used; `users` names the strategies, such as `, for alder`. */
export function explainUnknown(instrument: string, known: readonly string[], users = ''): string {
  const nearest = nearestTo(instrument, known)
  return (
    `expected an instrument with bars under bars/${users}, got ${got(instrument)}; ` +
    `${known.length === 0 ? 'there are no bars at all' : `there are bars of ${listed(known)}`}` +
    `${nearest === null ? '' : `; the nearest name is ${got(nearest)}`}`
  )
}

function reportMissing(reading: Reading, folder: Folder, key: BarsKey, users: readonly Claim[]): void {
  const parent = `bars/${instrumentOf(key)}`
  const beside = listed(filesUnder(folder, parent))
  reading.problems.add({
    file: `bars/${key}.csv`,
    message: `expected bars for ${listed(users.map(({ id }) => id))}, plain or .csv.gz, got no such file; ${parent}/ has ${beside}`,
  })
}

const COLUMNS: Columns = { required: ['t', 'rate'] }

/** Exchanges cap a payment at 2 to 4 % of notional; a larger number is in percent or basis points. */
const MAX_RATE = 0.1

/**
 * Reads funding payments: `t` ascending, at any times; `rate` a fraction of notional, positive if longs pay.
 */
async function readFunding(reading: Reading, path: string): Promise<FundingFile> {
  const [t, rate]: [number[], number[]] = [[], []]
  let before = Number.NaN // no order before the first row: every comparison with NaN is false

  await readTable(reading, path, COLUMNS, ([time = '', text = ''], row) => {
    const ms = parseMoment(time)
    const value = parseDecimal(text)
    const report = (message: string) => reading.problems.add({ file: path, row, message })
    if (Number.isNaN(ms)) report(`t: ${explainMoment(time)}`)
    else if (ms <= before) report(`t: ${explainOrder(ms, before)}`)
    if (!(Math.abs(value) <= MAX_RATE)) {
      report(
        `rate: expected a fraction of notional from -${MAX_RATE} to ${MAX_RATE} (0.0001 = 0.01 %), got ${got(text)}`,
      )
    }
    if (!Number.isNaN(ms)) before = ms
    t.push(ms)
    rate.push(value)
  })
  return { path, t: toShared(t), rate: toShared(rate) }
}
