// A book that runs live and is built: the build holds what was fired against the replay.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { publishRedisUrl } from '#cli/outside/redis-url.ts'
import { versionFolder } from '#core/contract/artifacts.ts'
import { readStatus } from '#signals/live/live-record.ts'
import { createHighWater } from '#signals/log/high-water.ts'
import { liveKey } from '#signals/redis/keys.ts'
import { openStore } from '#storage/open-store.ts'
import { readHead } from '#storage/pointer-log.ts'
import { run } from '../../cli/made-up.ts'
import { aModule, catalogue, csv, dailyBars, moduleText } from '../../pipeline/night/night-book.ts'
import { blocksIn } from '../../support/page-blocks.ts'
import { until } from '../../support/signals/delivery.ts'
import { redis, server, useRedis } from '../../support/signals/test-redis.ts'
import { temporaryFolder, writeFiles } from '../../support/temporary-folder.ts'
import { logged } from './live-kit.ts'

useRedis()

/** Fourteen days, up to the day before the made-up now; the live runner begins after ten of them. */
const CLOSES = [100, 101, 99, 98, 97, 99, 103, 105, 106, 104, 101, 99, 98, 100]
const END_MS = Date.parse('2024-01-15T00:00:00Z')
const BARS = 'bars/BTCUSDT-PERP/1d.csv'
const TURNS = `onBar: (state, bar, position) =>
    position === null ? { act: 'long', stop: bar.c * 0.97 } : bar.c < 100 ? { act: 'flat', why: 'signal' } : null,`

async function aBook() {
  const folder = await temporaryFolder()
  await writeFiles(folder, {
    'book/catalogue.yaml': catalogue([aModule('oak')]),
    'book/strategies/oak.ts': moduleText('oak', { body: TURNS }),
    [`book/${BARS}`]: dailyBars(CLOSES.slice(0, 10)),
    'feed.csv': dailyBars(CLOSES),
  })
  const storeUrl = pathToFileURL(join(folder, 'store')).href
  const alerts = join(folder, 'alerts')
  const build = (REDIS_URL: string) =>
    run(['build', '--book', 'book', '--store', storeUrl, '--json'], {
      cwd: folder,
      env: { REDIS_URL, DATA_FOLDER: folder, ALERT_COMMAND: `cat >> '${alerts}'`, BUILD_EFFORT: 'quick' },
    })
  const alerted = async (): Promise<unknown> => JSON.parse(await readFile(alerts, 'utf8'))
  const served = async () => (await readHead(await openStore(storeUrl)))?.entry.version ?? null
  const setBars = (text: string) => writeFile(join(folder, 'book', BARS), text)
  return { folder, build, served, alerted, setBars }
}

/** Runs live until the last bar of the feed is committed, or until it ends by itself. */
async function runLive(
  folder: string,
  args: readonly string[] = ['--feed', 'file:feed.csv', '--live-dir', 'live'],
  env: Readonly<Record<string, string>> = {},
) {
  let [hasEnded, waiting] = [false, Promise.resolve()]
  const isOver = async () => hasEnded || (await redis.hget(liveKey('oak'), 'cursor')) === String(END_MS)
  const ended = await run(['live', '--allow-unpublished', '--book', 'book', ...args], {
    cwd: folder,
    env: { REDIS_URL: server.url, PRIVATE_STORE_URL: `file:${join(folder, 'private')}`, ...env },
    now: () => Date.now(),
    untilStopped: () => (waiting = until(isOver)),
  })
  hasEnded = true
  await waiting
  return ended
}

test('a strategy that is not in the served dataset runs live with consent alone', async () => {
  const { folder } = await aBook()
  const { code, err } = await run(['live', '--book', 'book'], {
    cwd: folder,
    env: { REDIS_URL: server.url, STORE_URL: `file:${join(folder, 'none')}` },
  })
  expect([code, err]).toEqual([2, expect.stringContaining('not in the dataset that')])
  expect(err).toContain('oak')
  expect(err).toContain('--allow-unpublished')
})

test('a book is not followed live on a Redis that ends before what was delivered', async () => {
  const { folder } = await aBook()
  const PRIVATE_STORE_URL = `file:${join(folder, 'marked')}`
  await createHighWater(await openStore(PRIVATE_STORE_URL, null)).cover(1)
  const { code, err } = await runLive(folder, [], { PRIVATE_STORE_URL })
  expect([code, err]).toEqual([1, expect.stringContaining('the log is lost')])
})

test('a book that ran live is built if its replay is what was fired, and refused as the README shows if a bar was revised since', async () => {
  const { folder, build, served, alerted, setBars } = await aBook()
  const lived = await runLive(folder)
  expect(lived).toMatchObject({ code: 0, err: '' })
  expect(lived.out).toMatch(/signal 1: oak \w+ at /)
  expect(await logged(redis)).not.toEqual([])
  expect(await readFile(join(folder, 'live', 'BTCUSDT-PERP/1d.csv'), 'utf8')).toBe(
    csv('t,o,h,l,c,v', ...dailyBars(CLOSES).split('\n').slice(11, -1)),
  )

  await setBars(dailyBars(CLOSES.with(11, 100.5)))
  const refused = await build(server.url)
  expect(refused.code).toBe(1)
  const [, shown] = refused.err.split(/(?=^highwater: )/m)
  expect(blocksIn('README.md', 'text')).toContain(`${shown?.trimEnd()}\n`)
  expect(refused.err).toContain('live signals differ from the replay, and nothing was published:')
  expect(refused.err).toContain('oak, bar that closed at 2024-01-13T00:00:00Z: stored is')
  expect(await served()).toBeNull()
  expect((await readStatus(redis, 'oak', 0)).diverges).toContain('bar that closed at 2024-01-15T00:00:00Z')
  expect(await alerted()).toMatchObject({
    kind: 'live_mismatch',
    subject: 'oak',
    message: expect.stringContaining('nothing was published'),
  })

  await setBars(dailyBars(CLOSES))
  const built = await build(server.url)
  expect(built.code).toBe(0)
  expect(built.err).toContain('oak: its live signals up to 2024-01-15T00:00:00Z equal those of the replay')
  expect((await readStatus(redis, 'oak', 0)).diverges).toBeNull()

  const ended = { on: '2024-01-14', reason: 'the exchange closed' }
  await writeFile(join(folder, 'book/catalogue.yaml'), catalogue([{ ...aModule('oak'), ended }]))
  expect(await runLive(folder, [])).toMatchObject({ code: 0, out: expect.stringContaining('oak has ended') })
  expect((await runLive(folder, ['--strategy', 'oak'])).err).toContain(
    '--strategy: expected a module of the book',
  )
})

test.each([6, 12])('day %i, brought after it was decided on live, is published with a reason', async day => {
  const { folder, build, served, setBars } = await aBook()
  const lacking = (closes: readonly number[]) => dailyBars(closes).split('\n').toSpliced(day, 1).join('\n')
  await setBars(lacking(CLOSES.slice(0, 10)))
  await writeFile(join(folder, 'feed.csv'), lacking(CLOSES))
  expect(await runLive(folder)).toMatchObject({ code: 0, err: '' })
  await setBars(dailyBars(CLOSES))
  const { err } = await build(server.url)
  expect(await served()).toBeNull()
  const [, entry = ''] = /live_gap of oak: .* without 1 bar, .* accept: \[(.*)\.\.\./.exec(err) ?? []
  const accepting = `${catalogue([aModule('oak')]).slice(0, -1)}, accept: [${entry}the vendor was late"}]}`
  await writeFile(join(folder, 'book/catalogue.yaml'), accepting)
  const { live, version } = JSON.parse((await build(server.url)).out)
  expect(live).toEqual({ strategies: [{ id: 'oak', diverges: true }], not_compared: null })
  const published = await readFile(join(folder, 'store', versionFolder(version), 'dataset.json'), 'utf8')
  expect(published).toMatch(/differ from this history since .*the vendor was late/s)
  if (day < 10) return
  await setBars(dailyBars(CLOSES.with(12, 98.5)))
  expect((await build(server.url)).err).toContain('live signals differ from the replay')
})

test('a book that ran live is built with a warning if Redis cannot be reached, which no live runner accepts', async () => {
  const { folder, build, served, setBars } = await aBook()
  await setBars(dailyBars(CLOSES))
  const away = 'redis://127.0.0.1:1'
  const built = await build(away)
  expect(built.code).toBe(0)
  expect(built.err).toContain(
    'warning: live signals were not compared with the replay: Redis does not answer',
  )
  expect(await served()).not.toBeNull()
  await publishRedisUrl(folder, away) // that of the service on this machine, which has ended
  expect(JSON.parse((await build('')).out).live.not_compared).toContain('Redis does not answer')
  const live = await runLive(folder, [], { REDIS_URL: away })
  expect(live.code).toBe(1)
  expect(live.err).toContain('start it, or name it in REDIS_URL')
})

test('highwater live follows the own bars of its book if no feed is named', async () => {
  const { folder, setBars } = await aBook()
  await setBars(dailyBars(CLOSES))
  const { code, out } = await runLive(folder, ['--live-dir', 'live'])
  expect(code).toBe(0)
  expect(out).toContain(`oak follow ${join(folder, 'book', BARS)}`)
  expect(out).not.toContain('tick')
  expect(await logged(redis)).toEqual([])
})

test('highwater live prints that a strategy has a tick on which the market does not trade', async () => {
  const { folder } = await aBook()
  await writeFile(join(folder, 'book/catalogue.yaml'), catalogue([{ ...aModule('oak'), tick_size: 0.3 }]))
  expect((await runLive(folder)).out).toContain('oak: the last close, 104, is not on the tick of 0.3')
})

test('highwater live ignores a bar of the book until it has closed', async () => {
  const { folder, setBars } = await aBook()
  const forming = '2099-01-01T00:00:00Z,1,1,1,1,1\n'
  await setBars(dailyBars(CLOSES.slice(0, 10)) + forming)
  expect(await runLive(folder)).toMatchObject({ code: 0, err: '' })
  expect(await logged(redis)).not.toEqual([])
})

test.each([
  [['--strategy', 'elm'], 2, "--strategy: expected a module of the book (oak), got 'elm'"],
  [['--strategy', ''], 2, "--strategy: expected a module of the book (oak), got ''"],
  [['--feed', 'ftp://x'], 2, "--feed: expected file:PATH, - or an http(s) address, got 'ftp://x'"],
  [['--feed', '-', '--feed', '-'], 2, 'expected one feed of BTCUSDT-PERP/1d'],
  [['--feed', 'file:nowhere.csv'], 1, 'nowhere.csv: it cannot be read (ENOENT'],
])('highwater live refuses the arguments %j', async (args, code, sentence) => {
  const { folder } = await aBook()
  expect(await runLive(folder, args)).toMatchObject({ code, err: expect.stringContaining(sentence) })
})

test('highwater live refuses a module that differs from its catalogue', async () => {
  const { folder } = await aBook()
  await writeFile(join(folder, 'book/strategies/oak.ts'), moduleText('ash'))
  const { err } = await runLive(folder)
  expect(err).toContain('strategies/oak.ts: id: oak in the catalogue, ash in the module')
})
