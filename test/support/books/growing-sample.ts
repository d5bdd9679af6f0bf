// The sample book night after night, in the suite and for longer in `make soak`: growing a day at a time is never an alarm,
// and every injected change is refused.

import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { beforeAll, expect, test } from 'vitest'
import { type EpochDay, toIsoDate, toIsoInstant } from '#core/calendar.ts'
import type { Changes } from '#core/contract/payloads/changes.ts'
import { toSignificant } from '#core/contract/rounding.ts'
import { toAncestor } from '#core/dataset/lineage.ts'
import type { Snapshot } from '#core/dataset/snapshot.ts'
import { dayOf, lastDay } from '#core/figures/series.ts'
import { changesOf } from '#pages/versions.ts'
import { writeSampleBook } from '#pipeline/sample/write-sample-book.ts'
import { publishVersion } from '#static-build/publish-version.ts'
import { openStore, privateTwin } from '#storage/open-store.ts'
import { readLog } from '#storage/pointer-log.ts'
import { orderOf } from '#test/static-build/hand-order.ts'
import { run } from '../../cli/made-up.ts'
import { lastingFolder, writeFiles } from '../temporary-folder.ts'
import { computeBook } from './publish-book.ts'

/** Text files by their path in the book. */
type Texts = Readonly<Record<string, string>>

const BARS = 'bars/BTCUSDT-PERP/4h.csv'
const RETURNS = 'returns/willow.csv'
const CATALOGUE = 'catalogue.yaml'
const SERIES = [BARS, 'funding/BTCUSDT-PERP.csv', RETURNS]
const BESIDE_RETURNS = 'ledgers/willow.csv'
const LEDGERS = ['ledgers/rowan.csv', BESIDE_RETURNS]

/** Nights of the sample book: the first day of its data, the last, and how many nights there are to that. */
export type Span = {
  readonly from: EpochDay
  readonly last: EpochDay
  readonly nights: number
  /** A day before the first night on which a strategy that is marked by the bars has a position. */
  readonly pastDay: string
}

type GrowingSample = {
  readonly folder: string
  /** The files that change from night to night, as they are when a day has ended, and the catalogue. */
  readonly asOf: (day: EpochDay) => Texts
}

/** Makes the sample book once, in a folder that is not there yet; the nights are cut from it. */
async function createGrowingSample(folder: string, from: EpochDay): Promise<GrowingSample> {
  await writeSampleBook(folder)
  await rm(join(folder, 'program.yaml')) // the nights here are about histories, and a program costs each some time
  const paths = [...SERIES, ...LEDGERS, CATALOGUE]
  const whole = await Promise.all(
    paths.map(async path => [path, toFew(path, await readFile(join(folder, path), 'utf8'))] as const),
  )
  return {
    folder,
    asOf: day => Object.fromEntries(whole.map(([path, text]) => [path, cut(path, text, from, day)])),
  }
}

/** The catalogue with one strategy of each kind, and the module that trades most: others cost time, and show the same. */
const toFew = (path: string, text: string): string =>
  path === CATALOGUE
    ? text
        .replace(strategy('(?:alder|birch|cedar|hazel|maple)', 'gm'), '')
        .replace(/^ {4}inception: .*\n/gm, '')
        .replace(/^accept:\n.*\n/m, '')
    : text

/** The lines of a strategy in the catalogue. */
const strategy = (id: string, flags: string): RegExp => new RegExp(`^ {2}- id: ${id}\\n(?: {4}.*\\n)*`, flags)

function cut(path: string, text: string, from: EpochDay, day: EpochDay): string {
  const [start, end] = [toIsoDate(from), toIsoDate(day + 1)] // moments are ISO, so they compare as text
  if (SERIES.includes(path)) return rewriteRows(text, row => (row[0]! >= start && row[0]! < end ? row : null))
  // A trade on days that are reported is in the ledger beside them; the other ledger is marked by the bars alone.
  const known = path === BESIDE_RETURNS ? 3 : 1 // its end or its beginning
  if (LEDGERS.includes(path))
    return rewriteRows(text, row => (isBefore(row[known]!, start) ? null : tradeAsOf(row, end)))
  return text
}

const isBefore = (moment: string, start: string): boolean => moment !== '' && moment < start

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

/** What is changed before the build of a night, in the files. */
type Injection = {
  readonly what: string
  readonly files: (texts: Texts, day: EpochDay, pastDay: string) => Texts
  /** Lines of the refusal: whose value, of when, what was published, and what the changed book gives. */
  readonly refusal: (published: Snapshot, changed: Snapshot, pastDay: string) => readonly string[]
}

/** Rows of one file changed or dropped: those that begin with a moment, or the first. */
const withRow =
  (
    path: string,
    isMeant: (row: readonly string[], index: number) => boolean,
    change: (row: readonly string[]) => readonly string[] | null,
  ) =>
  (texts: Texts): Texts => ({
    ...texts,
    [path]: rewriteRows(texts[path]!, (row, i) => (isMeant(row, i) ? change(row) : row)),
  })

const isFirst = (_row: readonly string[], index: number): boolean => index === 0

/** The first trade of a ledger, as a refusal names it. */
const firstTrade = (published: Snapshot, id: string): string => {
  const { side, entry_time } = published.strategies.find(each => each.id === id)!.trades
  return `${side.words[side.codes[0]!]} of ${toIsoInstant(entry_time[0]!)}`
}

/** Another close of a bar, within its range. */
const withClose = (texts: Texts, moment: string): Texts =>
  withRow(
    BARS,
    ([t]) => t === moment,
    row => row.with(4, row[4] === row[3] ? row[2]! : row[3]!),
  )(texts)

/** An entry for what an injection makes implausible as well. */
const accepting = (finding: string, day: EpochDay): string =>
  `accept: [{finding: ${finding}, of: willow, from: 2018-01-01, to: ${toIsoDate(day - 1)}, count: 1, reason: a test}]\n`

const INJECTIONS: readonly Injection[] = [
  {
    what: 'another close of a bar of the past',
    files: (texts, _day, pastDay) => withClose(texts, `${pastDay}T20:00:00Z`),
    refusal: (published, changed, pastDay) => returnLines(pastDay, published, changed),
  },
  {
    what: 'another close of a bar of the last published day',
    files: (texts, day) => withClose(texts, `${toIsoDate(day - 1)}T20:00:00Z`),
    refusal: (published, changed) =>
      returnLines(toIsoDate(lastDay(published.strategies[0]!.daily)), published, changed),
  },
  {
    what: 'another daily return',
    files: (texts, day, pastDay) =>
      withRow(
        RETURNS,
        ([t]) => t === pastDay,
        row => row.with(1, '0.0123'),
      )({ ...texts, [CATALOGUE]: `${texts[CATALOGUE]}${accepting('returns_differ', day)}` }),
    refusal: (published, _changed, pastDay) => [
      `  willow: return of ${pastDay}: ${returnOf(published, 'willow', pastDay)} -> 0.0123`,
    ],
  },
  {
    what: 'a trade that is gone',
    files: withRow('ledgers/rowan.csv', isFirst, () => null),
    refusal: published => [`  rowan: ${firstTrade(published, 'rowan')}: is gone`],
  },
]

/** This one goes through the command as well. */
const COMMANDED = 'another daily return'

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

type Ran = {
  readonly url: string
  readonly nights: readonly Changes[]
  readonly refused: ReadonlyMap<string, Refused>
  readonly commanded: Awaited<ReturnType<typeof build>> | undefined
}

/** The nights, with an injection before some of them: spread over all, the last one before the last. */
async function runNights({ from, last, nights: count, pastDay }: Span): Promise<Ran> {
  const folder = await lastingFolder()
  const sample = await createGrowingSample(join(folder, 'book'), from)
  const url = pathToFileURL(join(folder, 'store')).href
  const nights: Changes[] = []
  const refused = new Map<string, Refused>()
  const first = last - count
  const nightOf = (injection: number) => Math.floor(((injection + 1) * count) / (INJECTIONS.length + 1))
  const byNight = new Map(INJECTIONS.map((injection, i) => [nightOf(i), injection]))
  let commanded: Ran['commanded']
  let published = await compute(sample, first, sample.asOf(first))
  await publish(url, published)
  for (let night = 1; night <= count; night++) {
    const [injection, day] = [byNight.get(night), first + night]
    if (injection !== undefined) {
      refused.set(injection.what, await inject(injection, { sample, url, day, pastDay, published }))
      if (injection.what === COMMANDED) commanded = await build(sample.folder, url, day)
    }
    published = await compute(sample, day, sample.asOf(day))
    nights.push(await publish(url, published))
  }
  return { url, nights, refused, commanded }
}

/** Writes the files as an operator does, and computes the dataset of the night. */
async function compute({ folder }: GrowingSample, asOf: EpochDay, texts: Texts): Promise<Snapshot> {
  await writeFiles(folder, texts)
  return (await computeBook(folder, { version: versionAfter(asOf), asOf: toIsoDate(asOf) })).snapshot
}

/** Publishes without artifacts, which no comparison reads. */
async function publish(url: string, snapshot: Snapshot): Promise<Changes> {
  const stores = { store: await openStore(url), privateStore: await openStore(privateTwin(url)) }
  const order = orderOf(snapshot.dataset.version, stores)
  return (await publishVersion({ ...order, snapshot, render: async () => [] })).changes
}

type InjectionScene = {
  readonly sample: GrowingSample
  readonly url: string
  readonly day: EpochDay
  readonly pastDay: string
  readonly published: Snapshot
}

/** Builds the changed book, and gives what the refusal says beside what it should. */
async function inject(
  { files, refusal: linesOf }: Injection,
  { sample, url, day, pastDay, published }: InjectionScene,
): Promise<Refused> {
  const changed = await compute(sample, day, files(sample.asOf(day), day, pastDay))
  const refusal = await publish(url, changed).then(
    () => 'published',
    error => String(error),
  )
  return { lines: refusal.split('\n'), expected: linesOf(published, changed, pastDay) }
}

const build = (book: string, url: string, day: EpochDay) =>
  run(['build', '--book', book, '--store', url, '--as-of', toIsoDate(day), '--version', versionAfter(day)], {
    now: () => Date.parse(versionAfter(day)),
  })

/** The guarantees of such nights, as tests. */
export function testNights(span: Span): void {
  let ran: Ran
  beforeAll(async () => {
    ran = await runNights(span)
  }, 1_800_000) // seconds on a free core; a crowded machine takes many

  const { last, nights: count } = span
  const first = last - count

  test('nights append every day once and alter nothing, whatever was refused between them', () => {
    expect(ran.nights).toHaveLength(count)
    const ends = new Map<string, EpochDay>()
    for (const changes of ran.nights) {
      const { version, history_restated, strategies } = changes
      expect(history_restated, version).toBe(false)
      expect([version, changesOf(toAncestor(changes, null))]).toEqual([version, ['New days only.']])
      // A night whose last bar is missing, as one is in the sample, leaves its day to the next.
      for (const { id, daily } of strategies) {
        if (daily.appended === null) continue
        const end = ends.get(id) ?? first
        expect([id, daily.appended.from]).toEqual([id, toIsoDate(end + 1)])
        ends.set(id, end + daily.appended.n)
      }
    }
    expect([...ends.values()]).toEqual(ran.nights.at(-1)!.strategies.map(() => last))
    for (const id of ends.keys()) {
      const trades = ran.nights.map(
        ({ strategies }) => strategies.find(each => each.id === id)!.trades.appended,
      )
      expect(Math.max(...trades), id).toBeGreaterThan(0) // so there was something to get wrong
    }
  })

  test('the pointer log has an entry of every night and none of what was refused', async () => {
    const log = await readLog(await openStore(ran.url))
    const days = Array.from({ length: count + 1 }, (_, night) => first + night)
    expect(log.map(({ entry }) => entry.version)).toEqual(days.map(versionAfter))
  })

  test.each(INJECTIONS.map(({ what }) => what))(
    'a night with %s is refused with the strategy, the date, what was published and what it would be',
    what => {
      const { lines, expected } = ran.refused.get(what)!
      expect(lines[0]).toMatch(/would alter history that 20\S+ published:$/)
      expect(expected.length).toBeGreaterThan(0) // a bar without a position would prove nothing
      expect(lines).toEqual(expect.arrayContaining([...expected]))
    },
  )

  test('the build command refuses a night with another return with the same lines', () => {
    expect(ran.commanded).toMatchObject({ code: 1 })
    for (const line of ran.refused.get(COMMANDED)!.expected) expect(ran.commanded?.err).toContain(line)
  })
}
