// The second computation of live records, in Python, from what a service publishes: examples/python/live.py.
import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { toEpochDay, toIsoDate, toIsoInstant } from '#core/calendar.ts'
import { openingKey } from '#core/contract/seals.ts'
import { openDays } from '#static-build/open-days.ts'
import { openSeals } from '#storage/seals/chain.ts'
import { liveRecordsOf } from '#storage/seals/live-records.ts'
import { openingText, parseOpening, recordKey, type SealEvent } from '#storage/seals/seal.ts'
import { handSnapshot } from '../support/books/hand-snapshot.ts'
import { createMemoryStores, publishInMemory } from '../support/books/publish-in-memory.ts'
import { startProcess } from '../support/history/highwater-process.ts'
import { createTestApp } from '../support/history/history-app.ts'
import { listenForTest } from '../support/http/listen-for-test.ts'
import { DEBIAN_PYTHON } from '../support/pandas.ts'
import type { Exit } from '../support/processes.ts'
import { createChain, eventItem, signalItem } from '../support/seals/chain.ts'

const SCRIPT = join(import.meta.dirname, '../../examples/python/live.py')
const HOUR = 3_600_000
const START = Date.UTC(2026, 0, 1)
const at = (hours: number): number => START + Math.round(hours * HOUR)
const iso = (hours: number): string => toIsoInstant(at(hours))

/** Every 18 hours a trade of ten hours, some of them of no time, and some over the next. */
const TRADES = Array.from({ length: 160 }, (_, i) => ({
  side: i % 3 === 0 ? ('short' as const) : ('long' as const),
  entry_time: at(4 + 18 * i - (i % 5 === 4 ? 0.1 : 0)),
  exit_time: at(4 + 18 * i + (i % 11 === 3 ? 30 : i % 13 === 5 ? 0 : 10)),
  account_return: 0.01,
}))

/** What is sealed, by when it was acknowledged: entries in time, late, by hand, twice, and none of some trades. */
function itemsByTime(): Readonly<Record<string, readonly string[]>> {
  const fired = TRADES.flatMap(({ side, entry_time }, i) => {
    const fire = (isFired: boolean, after: number, more = {}) => {
      const content = { action: side, timestamp: toIsoInstant(entry_time), ...more }
      return isFired ? [{ hours: (entry_time - START) / HOUR + after, content }] : []
    }
    return [
      fire(i % 7 < 3, 0.01),
      fire(i % 7 === 4, 0.7),
      fire(i % 7 === 5, 0.02, { by: 'operator:ada' }),
      fire(i % 7 === 6, 0.03, { action: 'short' }),
      fire(i % 10 === 0, 0.04, { mode: 'DRY_RUN' }),
      fire(i % 10 === 1, 0.04, { is_test: true }),
      fire(i % 10 === 2, 0.04, { alias: 'elm', mode: 'DRY_RUN' }),
      fire(i % 4 === 2, 9, { action: 'flat' }),
    ].flat()
  }).sort((a, b) => a.hours - b.hours)
  const signals = fired.map(({ hours, content }, i) => ({
    ...{ hours, item: signalItem(i < 30 ? i + 1 : i + 3, content) },
  }))
  const of = (event: SealEvent['event'], alias: string, ...all: readonly number[]) =>
    all.map(hours => ({ hours, item: eventItem(event, alias, iso(hours)) }))
  const events = [
    ...[...of('live', 'alder', 30, 420.5), ...of('live', 'elm', 165), ...of('ended', 'alder', 300)],
    ...[...of('halt', '*', 100), ...of('resume', '*', 140)],
    ...[...of('halt', 'alder', 160), ...of('resume', 'alder', 190)],
  ]
  const groups = Map.groupBy([...signals, ...events], ({ hours }) => iso(hours))
  return Object.fromEntries([...groups].map(([time, items]) => [time, items.map(({ item }) => item)]))
}

const LAST_DAY = '2026-04-25'

/** A chain with gaps, two origins, a lost seal and time stamps; `ash` has no live record. */
async function publishRecord() {
  const stores = createMemoryStores()
  const read = (key: string) => stores.store.read(key)
  const chain = createChain(stores, iso(-1))
  const items = itemsByTime()
  const until = (from: number, to: number) =>
    Object.fromEntries(Object.entries(items).filter(([key]) => key >= iso(from) && key < iso(to)))
  await chain.sealUntil(iso(280), until(-1, 280))
  const lost = chain.all.findLast(({ record }) => record.items.length > 0)!.seal.n
  await stores.privateStore.remove(recordKey(lost))
  chain.beginAnew()
  const of = { origin: null, digest: null, lost_from: lost, lost_to: lost }
  await chain.seal([eventItem('begin_anew', null, iso(280), { why: 'a lost disk', of })])
  await chain.sealUntil(iso(24 * 117), until(280, 24 * 117), 6 * HOUR)
  await openDays(stores, LAST_DAY)
  for (const key of await stores.store.list('v1/seals/openings/')) {
    const opening = parseOpening((await read(key))!)!
    const seals = chain.all.filter(({ seal }) => toIsoDate(toEpochDay(seal.toMs)) === opening.date)
    const stamps = seals
      .filter((_, i) => i % 6 === 5)
      .map(({ seal }) => ({ n: seal.n, at: new Date(seal.toMs + 1500).toISOString(), by: 'Hand' }))
    await stores.store.replace(openingKey(opening.date), Buffer.from(openingText({ ...opening, stamps })), {
      content_type: 'application/jsonl',
    })
  }
  const seals = await chain.read()
  const opened = await openSeals(read, seals, LAST_DAY)
  expect(opened.faults).toEqual([])
  const found = liveRecordsOf(opened, seals, [{ id: 'alder', bar_minutes: 240 }])
  const returns = Array.from({ length: 115 }, (_, i) => Math.round(2e8 * Math.sin(i * i)) / 1e10)
  const held = { side: 'long' as const, entry_time: at(24 * 113) }
  const trades = TRADES.filter(trade => trade.exit_time < at(24 * 112))
  const strategy = { first: '2026-01-01', returns, trades }
  const snapshot = handSnapshot(
    [
      { id: 'alder', ...strategy, live: found.live.get('alder') ?? null, night: { open: [held] } },
      { id: 'ash', ...strategy },
    ],
    { version: '2026-04-27T00:15:00Z', seals: found.seals },
  )
  await publishInMemory(stores, snapshot)
  return stores
}

const isThere = existsSync(DEBIAN_PYTHON)

describe.skipIf(!isThere)(`live.py${isThere ? '' : ` (skipped: no ${DEBIAN_PYTHON})`}`, () => {
  let app: Awaited<ReturnType<typeof createTestApp>>['app']

  beforeAll(async () => {
    const { store, privateStore } = await publishRecord()
    app = (await createTestApp(store, privateStore)).app
  })

  /** The service, with some answers altered on the way. */
  const serve = (alter: (path: string, text: string) => string = (_, text) => text): Promise<string> =>
    listenForTest(
      createServer(async ({ url = '' }, response) => {
        const answer = await app.request(url)
        response.writeHead(answer.status).end(alter(url, await answer.text()))
      }),
    )

  const compute = async (url: string, ...args: readonly string[]): Promise<Exit> =>
    startProcess(DEBIAN_PYTHON, [SCRIPT, url, ...args], { env: { PYTHONDONTWRITEBYTECODE: '1' } }).ended

  test('live.py prints the published live record of a strategy to its last digit, at each risk level, and that of one that was never live', async () => {
    const url = await serve()
    for (const [sid, ...args] of [['alder'], ['alder', '--risk', '0.05'], ['ash']] as const) {
      const exit = await compute(url, sid, ...args)
      expect([exit.stderr, exit.code]).toEqual(['', 0])
      const query = args.length === 0 ? '' : '?risk_pct=0.05'
      const { data } = JSON.parse(await (await app.request(`/v1/strategies/${sid}/live${query}`)).text())
      expect(JSON.parse(exit.stdout)).toEqual(data)
      if (sid === 'ash') continue
      const { undefined: reasons, entries, days, seals, ...figures } = data
      expect(Object.values(entries).filter(count => count === 0)).toEqual([])
      expect(Object.keys(reasons)).toEqual(['modelled/cagr_pct', 'as_sealed/cagr_pct'])
      expect([days.live > 90, days.gaps > 0]).toEqual([true, true])
      expect([seals.lost, seals.skipped, seals.origins].map(list => list.length)).toEqual([1, 1, 2])
      expect(seals.absent).toEqual(['elm'])
      expect([figures.days_left_out > 0, figures.days_shared > 0]).toEqual([true, true])
    }
  })

  test('live.py exits with 1 and names everything that is published otherwise, and with 2 without an answer', async () => {
    const alterations = [
      ['/live', /"missed":\d+/, '"missed":0', 'entries is published as'],
      ['/live', /"as_sealed":\{"net_return_pct":-?\d/, '$&1', 'as_sealed is published as'],
      ['/trades', /"live":"late"/, '"live":"sealed"', 'live of /trades is published as'],
    ] as const
    const url = await serve((at, text) =>
      alterations.reduce(
        (altered, [path, pattern, to]) => (at.endsWith(path) ? altered.replace(pattern, to) : altered),
        text,
      ),
    )
    const [exit, none] = await Promise.all([compute(url, 'alder'), compute('http://127.0.0.1:1', 'alder')])
    for (const [, , , words] of alterations) expect(exit.stderr).toContain(words)
    expect([exit.code, exit.stderr.trim().split('\n').length]).toEqual([1, 3])
    expect(none.code).toBe(2)
  })
})
