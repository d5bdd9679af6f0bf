// The sample book night after night: growing a day at a time is never an alarm, and every injected change is refused.

import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import { DAY_MS, type EpochDay, toIsoDate } from '#core/calendar.ts'
import type { Changes } from '#core/contract/payloads/changes.ts'
import { toSignificant } from '#core/contract/rounding.ts'
import type { Snapshot } from '#core/dataset/snapshot.ts'
import { dayOf, lastDay } from '#core/figures/series.ts'
import { readBook } from '#pipeline/book/read-book.ts'
import { computeSnapshot } from '#pipeline/night/compute-snapshot.ts'
import { SAMPLE_AS_OF, writeSampleBook } from '#pipeline/sample/write-sample-book.ts'
import { publishVersion } from '#static-build/publish-version.ts'
import { openStore, privateTwin } from '#storage/open-store.ts'
import { readLog } from '#storage/pointer-log.ts'
import { run } from '../cli/made-up.ts'
import { lastingFolder } from '../support/temporary-folder.ts'

/** Text files by their path in the book. */
type Texts = Readonly<Record<string, string>>

const BARS = 'bars/BTCUSDT-PERP/4h.csv'
const RETURNS = 'returns/willow.csv'
const CATALOGUE = 'catalogue.yaml'
const SERIES = [BARS, 'funding/BTCUSDT-PERP.csv', RETURNS]
const LEDGERS = ['ledgers/rowan.csv', 'ledgers/willow.csv']

type GrowingSample = {
  readonly folder: string
  /** The files that change from night to night, as they are when a day has ended, and the catalogue. */
  readonly asOf: (day: EpochDay) => Texts
  /** Writes files over those that are there. */
  readonly write: (texts: Texts) => Promise<void>
}

/** Makes the sample book once, in a folder that is not there yet; the nights are cut from it. */
async function createGrowingSample(folder: string): Promise<GrowingSample> {
  await writeSampleBook(folder)
  await rm(join(folder, 'program.yaml')) // the nights here are about histories, and a program costs each some time
  const paths = [...SERIES, ...LEDGERS, CATALOGUE]
  const whole = await Promise.all(
    paths.map(async path => [path, toFew(path, await readFile(join(folder, path), 'utf8'))] as const),
  )
  return {
    folder,
    asOf: day => Object.fromEntries(whole.map(([path, text]) => [path, cut(path, text, day)])),
    write: async texts => {
      for (const [path, text] of Object.entries(texts)) {
        await mkdir(dirname(join(folder, path)), { recursive: true })
        await writeFile(join(folder, path), text)
      }
    },
  }
}

/** The catalogue with one strategy of each kind, and the module that trades most: others cost time, and show the same. */
const toFew = (path: string, text: string): string =>
  path === CATALOGUE ? text.replace(strategy('(?:alder|birch|cedar|hazel|maple)', 'gm'), '') : text

/** The lines of a strategy in the catalogue. */
const strategy = (id: string, flags: string): RegExp => new RegExp(`^ {2}- id: ${id}\\n(?: {4}.*\\n)*`, flags)

function cut(path: string, text: string, day: EpochDay): string {
  const end = toIsoDate(day + 1) // moments are ISO, so they compare as text
  if (SERIES.includes(path)) return rewriteRows(text, row => (row[0]! < end ? row : null))
  if (LEDGERS.includes(path)) return rewriteRows(text, row => tradeAsOf(row, end))
  return text
}

/** A trade that is open has neither exit nor result yet; one that did not begin is in no ledger. */
function tradeAsOf(row: readonly string[], end: string): readonly string[] | null {
  const [side = '', entryTime = '', entryPrice = '', exitTime = '', , , ...known] = row
  if (entryTime >= end) return null
  if (exitTime < end) return row
  return [side, entryTime, entryPrice, '', '', '', ...known.with(-1, '')] // the last column is the account's return
}

/** Rewrites the rows of a CSV text one by one, or drops them; the header stays. */
function rewriteRows(
  text: string,
  rewrite: (row: readonly string[], index: number) => readonly string[] | null,
): string {
  const [header = '', ...lines] = text.trimEnd().split('\n')
  const rows = lines.map((line, i) => rewrite(line.split(','), i)?.join()).filter(row => row !== undefined)
  return [header, ...rows].map(line => `${line}\n`).join('')
}

/** The version that is built in the night after a day. */
const versionAfter = (day: EpochDay): string => `${toIsoDate(day + 1)}T00:15:00Z`

/** The moment of that night. */
const nightMs = (day: EpochDay): number => (day + 1) * DAY_MS + 15 * 60_000

const NIGHTS = 60
const FIRST_DAY = SAMPLE_AS_OF - NIGHTS

/** What is changed before the build of a night, in the files or in the dataset that they gave. */
type Injection = {
  readonly what: string
  readonly files?: (texts: Texts, day: EpochDay) => Texts
  readonly dataset?: (snapshot: Snapshot) => Snapshot
  /** Lines of the refusal: whose value, of when, what was published, and what the changed book gives. */
  readonly refusal: (published: Snapshot, changed: Snapshot) => readonly string[]
}

const PAST_DAY = '2025-03-05'
const WEEK = 100

/** The first trades of the two ledgers. */
const WILLOW = { entry: '2021-03-31T00:00:00Z', exitPrice: 4424.1 }
const ROWAN = { entry: '2019-07-01T00:00:00Z' }

/** Rows of one file that begin with a moment, or have it as their entry, changed or dropped. */
const withRow =
  (path: string, moment: string, change: (row: readonly string[]) => readonly string[] | null) =>
  (texts: Texts): Texts => ({
    ...texts,
    [path]: rewriteRows(texts[path]!, row => (row.slice(0, 2).includes(moment) ? change(row) : row)),
  })

/** Another close of a bar, within its range. */
const withClose = (texts: Texts, moment: string): Texts =>
  withRow(BARS, moment, row => row.with(4, row[4] === row[3] ? row[2]! : row[3]!))(texts)

const INJECTIONS: readonly Injection[] = [
  {
    what: 'a bar of the past',
    files: texts => withClose(texts, `${PAST_DAY}T20:00:00Z`),
    refusal: (published, changed) => returnLines(PAST_DAY, published, changed),
  },
  {
    what: 'a bar of the last published day',
    files: (texts, day) => withClose(texts, `${toIsoDate(day - 1)}T20:00:00Z`),
    refusal: (published, changed) =>
      returnLines(toIsoDate(lastDay(published.strategies[0]!.daily)), published, changed),
  },
  {
    what: 'a daily return',
    files: withRow(RETURNS, PAST_DAY, row => row.with(1, '0.0123')),
    refusal: published => [
      `  willow: return of ${PAST_DAY}: ${returnOf(published, 'willow', PAST_DAY)} -> 0.0123`,
    ],
  },
  {
    what: 'the base risk of reported returns',
    files: texts => ({
      ...texts,
      [CATALOGUE]: texts[CATALOGUE]!.replace(
        /(- id: willow\n(?: {4}.*\n)*? {4}base_risk_pct): .*/,
        '$1: 0.03',
      ),
    }),
    refusal: () => [
      '  willow: base_risk_pct: 0.02 -> 0.03, which changes every figure at another risk level',
    ],
  },
  {
    what: 'a week',
    dataset: ({ strategies: [larch, ...others], ...snapshot }) => {
      const weekly = { ...larch!.weekly, values: larch!.weekly.values.with(WEEK, 0.0123) }
      return { ...snapshot, strategies: [{ ...larch!, weekly }, ...others] }
    },
    refusal: ({ strategies: [larch] }) => {
      const { weekly } = larch!
      const old = toSignificant(weekly.values[WEEK]!)
      return [`  larch: week to ${toIsoDate(dayOf(weekly, WEEK))}: ${old} -> 0.0123`]
    },
  },
  {
    what: 'a field of a trade',
    files: withRow('ledgers/willow.csv', WILLOW.entry, row => row.with(4, '4400.1')),
    refusal: () => [`  willow: long of ${WILLOW.entry}: exit_price: ${WILLOW.exitPrice} -> 4400.1`],
  },
  {
    what: 'a trade that is gone',
    files: withRow('ledgers/rowan.csv', ROWAN.entry, () => null),
    refusal: () => [`  rowan: long of ${ROWAN.entry}: is gone`],
  },
  {
    what: 'a strategy that is gone',
    files: texts => ({
      ...texts,
      [CATALOGUE]: texts[CATALOGUE]!.replace(strategy('willow', 'm'), ''),
    }),
    refusal: () => ['  willow: the strategy is gone'],
  },
]

/** The night of an injection: spread over all of them, the last one before the last. */
const nightOf = (injection: number): number =>
  Math.floor(((injection + 1) * NIGHTS) / (INJECTIONS.length + 1))

const BY_NIGHT = new Map(INJECTIONS.map((injection, i) => [nightOf(i), injection]))

/** This one goes through the command as well. */
const COMMANDED = 'a daily return'

const returnOf = (snapshot: Snapshot, id: string, date: string): number => {
  const { daily } = snapshot.strategies.find(each => each.id === id)!
  const at = Array.from(daily.values, (_, i) => toIsoDate(dayOf(daily, i))).indexOf(date)
  return toSignificant(daily.values[at]!)
}

/** Every strategy whose return of a day another bar alters. */
const returnLines = (date: string, published: Snapshot, changed: Snapshot): string[] =>
  published.strategies
    .map(({ id }) => [id, returnOf(published, id, date), returnOf(changed, id, date)] as const)
    .filter(([, old, now]) => old !== now)
    .map(([id, old, now]) => `  ${id}: return of ${date}: ${old} -> ${now}`)

type Refused = { readonly lines: readonly string[]; readonly expected: readonly string[] }

let sample: GrowingSample
let url: string
const nights: Changes[] = []
const refused = new Map<string, Refused>()
const commanded: { code: number; err: string }[] = []

beforeAll(async () => {
  const folder = await lastingFolder()
  sample = await createGrowingSample(join(folder, 'book'))
  url = pathToFileURL(join(folder, 'store')).href
  let published = await compute(FIRST_DAY, sample.asOf(FIRST_DAY))
  await publish(published)
  for (let night = 1; night <= NIGHTS; night++) {
    const injection = BY_NIGHT.get(night)
    if (injection !== undefined) refused.set(injection.what, await inject(injection, night, published))
    published = await compute(FIRST_DAY + night, sample.asOf(FIRST_DAY + night))
    nights.push(await publish(published))
  }
}, 1_800_000) // a minute on two free cores; a crowded machine takes many

/** Writes the files as an operator does, and computes the dataset of the night. */
async function compute(asOf: EpochDay, texts: Texts): Promise<Snapshot> {
  await sample.write(texts)
  const { snapshot } = await computeSnapshot(await readBook(sample.folder), {
    version: versionAfter(asOf),
    asOf,
    nowMs: nightMs(asOf),
    allowStale: false,
    threads: 1, // a second one takes longer to start than it saves
    progress: () => {},
    elapsedMs: () => performance.now(),
  })
  return snapshot
}

/** Publishes without artifacts, which no comparison reads. */
async function publish(snapshot: Snapshot): Promise<Changes> {
  const { changes } = await publishVersion({
    snapshot,
    program: null,
    store: await openStore(url),
    privateStore: await openStore(privateTwin(url)),
    builtWith: { highwater: 'test', node: 'test', commit: null, lockfile_sha256: null },
    inputs: {},
    effort: 'quick',
    threads: 1,
    progress: () => {},
    now: () => Date.parse(snapshot.dataset.version),
    signer: null,
    allowRestatement: false,
    render: async () => [],
  })
  return changes
}

/** Builds the changed book, and gives what the refusal says beside what it should. */
async function inject(
  { what, files, dataset, refusal: linesOf }: Injection,
  night: number,
  published: Snapshot,
): Promise<Refused> {
  const day = FIRST_DAY + night
  const texts = sample.asOf(day)
  const computed = await compute(day, files?.(texts, day) ?? texts)
  const changed = dataset?.(computed) ?? computed
  const refusal = await publish(changed).then(
    () => 'published',
    error => String(error),
  )
  if (what === COMMANDED) commanded.push(await build(day))
  return { lines: refusal.split('\n'), expected: linesOf(published, changed) }
}

const build = (day: EpochDay) =>
  run(
    ['build', '--book', sample.folder, '--store', url, '--as-of', toIsoDate(day)].concat(
      '--version',
      versionAfter(day),
    ),
    { now: () => nightMs(day) },
  )

test('sixty nights append every day once and alter nothing, whatever was refused between them', () => {
  expect(nights).toHaveLength(NIGHTS)
  const ends = new Map<string, EpochDay>()
  for (const { version, history_restated, strategies } of nights) {
    expect(history_restated, version).toBe(false)
    // A night whose last bar is missing, as one is in the sample, leaves its day to the next.
    for (const { id, daily } of strategies) {
      if (daily.appended === null) continue
      const end = ends.get(id) ?? FIRST_DAY
      expect([id, daily.appended.from]).toEqual([id, toIsoDate(end + 1)])
      ends.set(id, end + daily.appended.n)
    }
  }
  expect([...ends.values()]).toEqual(nights.at(-1)!.strategies.map(() => SAMPLE_AS_OF))
  for (const id of ends.keys()) {
    const trades = nights.map(({ strategies }) => strategies.find(each => each.id === id)!.trades.appended)
    expect(Math.max(...trades), id).toBeGreaterThan(0) // so there was something to get wrong
  }
})

test('the pointer log has the sixty-one nights and nothing of what was refused', async () => {
  const log = await readLog(await openStore(url))
  const days = Array.from({ length: NIGHTS + 1 }, (_, night) => FIRST_DAY + night)
  expect(log.map(({ entry }) => entry.version)).toEqual(days.map(versionAfter))
})

describe('is refused with the strategy, the date, what was published and what it would be', () => {
  test.each(INJECTIONS.map(({ what }) => what))('%s', what => {
    const { lines, expected } = refused.get(what)!
    expect(lines[0]).toMatch(/would alter history that 2026-\S+ published:$/)
    expect(expected.length).toBeGreaterThan(0) // a bar without a position would prove nothing
    expect(lines).toEqual(expect.arrayContaining([...expected]))
  })

  test('also by the command', () => {
    const [exit] = commanded
    expect(exit).toMatchObject({ code: 1 })
    for (const line of refused.get(COMMANDED)!.expected) expect(exit?.err).toContain(line)
  })
})
