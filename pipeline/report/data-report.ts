import { DAY_MS, toIsoInstant } from '#core/calendar.ts'
import type { AcceptedFinding } from '#core/dataset/snapshot.ts'
import { lastDay } from '#core/figures/series.ts'
import { slippagePrice } from '#core/replay/trade.ts'
import type { BarsFile, BarsKey, Ledger, SoundParts, StrategyEntry } from '../book/book.ts'
import type { Problem } from '../book/problem.ts'
import { type Acceptance, accepts, spellAcceptance } from './accept.ts'
import { checkBars } from './bar-checks.ts'
import type { DataReport, Finding, Found, SubjectReport } from './finding.ts'
import { compareLabels } from './label-checks.ts'
import { checkReturns } from './return-checks.ts'
import { checkTrades } from './trade-checks.ts'

/** The header is row 1. */
const FIRST_ROW = 2

/** What the data of a book cover, and everything that was found in them, instrument by instrument and strategy by strategy. */
export function reportData(sound: SoundParts, nowMs: number): DataReport {
  const sets = barsOf(sound)
  const users = Map.groupBy(sound.strategies, ({ bars }) => bars)
  const finish = (report: Draft): SubjectReport => {
    const findings = [...repairsOf(report, sound), ...report.found].map(found =>
      toFinding(report, found, sound.accept),
    )
    const { found: _found, rowOf: _rowOf, ...rest } = report
    return { ...rest, findings }
  }
  return [
    ...sets.map(([key, file], i) =>
      finish(draftBars(key, file, sets.slice(0, i), nowMs, users.get(key) ?? [])),
    ),
    ...draftFunding(sound, nowMs).map(finish),
    ...sound.strategies.flatMap(entry => draftStrategy(entry, sound, nowMs)).map(finish),
  ]
}

/** What a reader repaired in the files of a subject. It counts gaps too, which are checked here. */
const repairsOf = ({ file, from, to }: Draft, { repairs }: SoundParts): Found[] =>
  repairs
    .filter(each => each.kind !== 'gaps' && each.file.startsWith(file))
    .map(({ kind, count, message }) => ({
      code: kind,
      severity: 'note',
      from: from ?? 0,
      to: to ?? 0,
      at: [],
      count,
      what: message,
      fix: null,
    }))

/** Everything that keeps a book from being published; an accepted finding does not. */
export const refusals = (report: DataReport): Problem[] =>
  report
    .flatMap(({ findings }) => findings)
    .filter(({ severity, accepted }) => severity !== 'note' && accepted === null)
    .map(toProblem)

function toProblem(finding: Finding): Problem {
  const { file, rows, code, severity, subject, what, fix } = finding
  const more =
    rows.length > 1 ? ` (rows ${rows.join(', ')}${finding.count > rows.length ? ', ...' : ''})` : ''
  const accept =
    severity === 'serious' ? `; or, if the data are right, accept: [${spellAcceptance(finding)}]` : ''
  const remedy = fix === null ? '' : `: ${fix}`
  const message = `${code} of ${subject}: ${what}${more}${remedy}${accept}`
  return { file, ...(rows[0] === undefined ? {} : { row: rows[0] }), message }
}

/** What is published of the accepted findings of a window that ends at an instant. */
export const acceptedFindings = (report: DataReport, endMs: number): AcceptedFinding[] =>
  report.flatMap(({ findings, strategies }) =>
    findings.flatMap(({ code, subject, from, to, count, what, accepted }) =>
      accepted === null || from >= endMs
        ? []
        : [
            {
              finding: code,
              of: subject,
              from: toIsoInstant(from),
              to: toIsoInstant(to),
              count,
              what,
              reason: accepted,
              strategies,
            },
          ],
    ),
  )

/** Entries of `accept` that no finding needs. */
export const unusedAcceptances = (entries: readonly Acceptance[], report: DataReport): Acceptance[] => {
  const findings = report.flatMap(({ findings }) => findings)
  return entries.filter(entry => !findings.some(finding => accepts(entry, finding)))
}

/** A report whose findings are not judged yet. */
type Draft = Omit<SubjectReport, 'findings'> & {
  readonly found: readonly Found[]
  /** The row of an index in the file; null if it is not known. */
  readonly rowOf: ((index: number) => number) | null
}

function toFinding({ subject, file, rowOf }: Draft, found: Found, entries: readonly Acceptance[]): Finding {
  const { at, ...rest } = found
  const finding = { ...rest, subject, file, rows: rowOf === null ? [] : at.map(rowOf) }
  const entry = found.severity === 'serious' && entries.find(each => accepts(each, finding))
  return { ...finding, accepted: entry ? entry.reason : null }
}

/** Every set of bars; those of the program are among them or not. */
function barsOf({ bars, program }: SoundParts): readonly (readonly [BarsKey, BarsFile])[] {
  const own = program === null || [...bars.values()].includes(program.bars) ? [] : [program]
  return [
    ...bars,
    ...own.map(
      ({ plan, bars: file }) => [`${plan.instrument}/${file.timeframe}` as BarsKey, file] as const, // by the type of the key
    ),
  ]
}

function draftBars(
  key: BarsKey,
  { path, bars }: BarsFile,
  earlier: readonly (readonly [BarsKey, BarsFile])[],
  nowMs: number,
  users: readonly StrategyEntry[],
): Draft {
  const instrument = instrumentOf(key)
  const twin = earlier.find(([other]) => instrumentOf(other) === instrument) ?? earlier[0]
  const shifted = twin === undefined ? [] : compareLabels(bars, twin[1].bars, twin[0])
  return {
    subject: key,
    file: path,
    count: bars.t.length,
    noun: 'bars',
    from: bars.t[0] ?? null,
    to: bars.t.at(-1) ?? null,
    strategies: users.map(({ id }) => id),
    found: [...checkBars(bars, nowMs), ...shifted],
    // The rows of a file from elsewhere may have been sorted.
    rowOf: path.startsWith(`bars/${key}.csv`) ? index => index + FIRST_ROW : null,
  }
}

const instrumentOf = (key: BarsKey): string => key.slice(0, key.lastIndexOf('/'))

/** Funding of the future is a forecast. */
const draftFunding = ({ funding, strategies }: SoundParts, nowMs: number): Draft[] =>
  [...funding].map(([instrument, { path, t }]) => {
    const at = t.findIndex(ms => ms > nowMs)
    const found: Found = {
      code: 'future_payments',
      severity: 'blocking',
      from: t[at] ?? 0,
      to: t.at(-1) ?? 0,
      at: [at],
      count: t.length - at,
      what: 'expected payments that were made, got later ones',
      fix: 'remove them, or correct the unit or the zone of the times',
    }
    return {
      subject: instrument,
      file: path,
      count: t.length,
      noun: 'payments',
      from: t[0] ?? null,
      to: t.at(-1) ?? null,
      strategies: strategies.filter(each => each.instrument === instrument).map(({ id }) => id),
      found: at < 0 ? [] : [found],
      rowOf: index => index + FIRST_ROW,
    }
  })

/** A module has no data of its own. */
function draftStrategy(entry: StrategyEntry, sound: SoundParts, nowMs: number): Draft[] {
  const { source } = entry
  switch (source.kind) {
    case 'module':
      return []
    case 'ledger':
      return [draftLedger(entry, source, sound, nowMs)]
    case 'returns': {
      const { first, values } = source.daily
      const ledger = source.ledger === null ? [] : [draftLedger(entry, source.ledger, sound, nowMs)]
      const returns: Draft = {
        subject: entry.id,
        file: source.path,
        count: values.length,
        noun: 'days',
        from: first * DAY_MS,
        to: lastDay(source.daily) * DAY_MS,
        strategies: [entry.id],
        found: checkReturns(source.daily, nowMs),
        rowOf: source.path.startsWith(`returns/${entry.id}.csv`) ? index => index + FIRST_ROW : null,
      }
      return [returns, ...ledger]
    }
  }
}

function draftLedger(entry: StrategyEntry, ledger: Ledger, { bars }: SoundParts, nowMs: number): Draft {
  const { path, trades, rows } = ledger
  const ground = {
    bars: entry.bars === null ? null : (bars.get(entry.bars)?.bars ?? null),
    maxLeverage: entry.max_leverage,
    slippage: slippagePrice(entry),
    nowMs,
  }
  return {
    subject: entry.id,
    file: path,
    count: trades.length,
    noun: 'trades',
    from: trades[0]?.entry_time ?? null,
    to: trades.at(-1)?.entry_time ?? null,
    strategies: [entry.id],
    found: checkTrades(trades, ground),
    rowOf: index => rows[index]!,
  }
}
