import { type EpochDay, parseIsoDate, toIsoDate } from '#core/calendar.ts'
import type { Series } from '#core/figures/series.ts'
import { toShared } from '#core/replay/bars.ts'
import type { Source } from './book.ts'
import { parseDecimal } from './cell.ts'
import { got } from './field.ts'
import { explainMissing, type Folder, tableAt } from './folder.ts'
import type { Claim } from './read-catalogue.ts'
import { readLedger } from './read-ledger.ts'
import { placeOf, type Reading, readWhole } from './reading.ts'
import { readTable, type TableRows } from './table.ts'

/**
 * Reads the source of every strategy; a missing one, or a second one, is a problem. Returns the sound ones by
 * id.
 */
export async function readSources(reading: Reading, folder: Folder, claims: readonly Claim[]) {
  const sources = new Map<string, Source>()
  for (const claim of claims) {
    const found = tablesOf(reading, folder, claim.id)
    reportStrangers(claim, found)
    const path = found[claim.source]
    const source =
      path === null ? reportMissing(claim, folder) : await readSource(reading, claim, path, found)
    const isSound = Object.values(found).every(each => each === null || !reading.problems.has(each))
    if (source !== null && isSound) sources.set(claim.id, source)
  }
  return sources
}

type Tables = Readonly<Record<Claim['source'], string | null>>

/** The files of the book that a strategy of this id could be made of. */
function tablesOf(reading: Reading, folder: Folder, id: string): Tables {
  const module = `strategies/${id}.ts`
  return {
    module: folder.has(module) ? module : null,
    ledger: tableAt(reading, folder, `ledgers/${id}`),
    returns: tableAt(reading, folder, `returns/${id}`),
  }
}

async function readSource(
  reading: Reading,
  claim: Claim,
  path: string,
  { ledger: beside }: Tables,
): Promise<Source | null> {
  const allowOverlap = claim.allow_overlap ?? false
  switch (claim.source) {
    case 'module':
      return (await readWhole(reading, path)) && { kind: 'module', path: placeOf(reading, path) }
    case 'ledger':
      return { kind: 'ledger', ...(await readLedger(reading, path, { allowOverlap, besideReturns: false })) }
    case 'returns': {
      const daily = await readReturns(reading, path)
      const rules = { allowOverlap, besideReturns: true }
      const ledger = beside === null ? null : await readLedger(reading, beside, rules)
      return { kind: 'returns', path, daily, ledger }
    }
  }
}

/** Two sources of one strategy are ambiguous. */
function reportStrangers({ source, id, report }: Claim, tables: Tables): void {
  const allowed = [tables[source], source === 'returns' ? tables.ledger : null]
  const others = Object.values(tables).filter(path => path !== null && !allowed.includes(path))
  if (others.length === 0) return
  const got = `${others.join(' and ')} too: remove one`
  report('source', `expected ${id} to have no other source than its ${source}, got ${got}`)
}

function reportMissing({ source, id, report }: Claim, folder: Folder): null {
  const parent = { module: 'strategies', ledger: 'ledgers', returns: 'returns' }[source]
  const ending = source === 'module' ? '.ts' : '.csv or .csv.gz'
  report('source', explainMissing(folder, `${parent}/${id}${ending}`, parent))
  return null
}

/** A day that loses everything: legal, and the last day on which the account can move. */
const RUIN = -1

/**
 * Reads daily returns as reported: `t` a UTC date, every day of the calendar from the first to the last;
 * `ret` the simple fractional return of that day, at least -1. After a day of -1 the account is dead and
 * every return is 0, as the engine has it after a liquidation. Rows that come from elsewhere obey the same rules.
 */
export async function readReturns(reading: Reading, path: string, imported?: TableRows) {
  const values: number[] = []
  let first: EpochDay | null = null
  let before: EpochDay | null = null
  let isRuined = false
  const onRow = ([t = '', ret = '']: readonly string[], row: number): void => {
    const report = (message: string) => reading.problems.add({ file: path, row, message })
    const day = parseIsoDate(t)
    const value = parseDecimal(ret)
    if (day === null) report(`t: expected a date as YYYY-MM-DD, got ${got(t)}`)
    else if (before !== null && day !== before + 1) report(`t: ${explainDay(day, before)}`)
    if (!(value >= RUIN)) report(`ret: expected a fraction of at least -1 (0.01 = +1 %), got ${got(ret)}`)
    else if (isRuined && value !== 0)
      report(`ret: expected 0 after the day of -1 that ended the account, got ${got(ret)}`)
    first ??= day
    before = day ?? (before === null ? null : before + 1)
    isRuined ||= value === RUIN
    values.push(value)
  }
  await readTable(reading, path, { required: ['t', 'ret'] }, onRow, imported)
  return { period: 'daily', first: first ?? 0, values: toShared(values) } satisfies Series
}

function explainDay(day: EpochDay, before: EpochDay): string {
  const expected = `expected ${toIsoDate(before + 1)}, the day after the row before, got ${toIsoDate(day)}`
  const missing = day - before - 1
  return missing > 0 ? `${expected}: ${missing} day${missing === 1 ? ' is' : 's are'} missing` : expected
}
