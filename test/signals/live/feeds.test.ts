// Feeds: a growing file, a pipe and a URL, and the rubbish that each may bring.
import { appendFile, rename, truncate, writeFile } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import type { Bar } from '#core/replay/strategy.ts'
import { createBarReader } from '#pipeline/book/read-bars.ts'
import { readBarsAnswer } from '#pipeline/import/bars.ts'
import type { Feed } from '#signals/live/bars.ts'
import { fileFeed, pollFeed, streamFeed } from '#signals/live/feeds.ts'
import { listenForTest } from '../../support/http/listen-for-test.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const newReader = () => createBarReader('4h')

const HEADER = 't,o,h,l,c,v\n'
const T0 = Date.parse('2020-01-02T00:00:00Z')
const FOUR_HOURS_MS = 14_400_000
const openOf = (i: number) => T0 + i * FOUR_HOURS_MS
const line = (i: number) => `${openOf(i)},100,101,99,100,${i}\n`

/** The opens of the first bars of a feed, as numbers of `openOf`; then it is asked to stop. */
async function take(feed: Feed, count: number): Promise<number[]> {
  const stop = new AbortController()
  const taken: Bar[] = []
  for await (const bar of feed.bars(stop.signal)) {
    taken.push(bar)
    if (taken.length === count) stop.abort()
  }
  return taken.map(({ t }) => (t - T0) / FOUR_HOURS_MS)
}

/** A file, and a feed of it that does the next thing each time it has read everything. */
async function growing(text: string, ...acts: readonly ((path: string) => Promise<void>)[]) {
  const path = join(await temporaryFolder(), 'bars.csv')
  await writeFile(path, text)
  const left = [...acts]
  const pause = async () => {
    await left.shift()?.(path)
  }
  return { path, feed: fileFeed(path, newReader, pause) }
}

test('a feed of a growing file gives the bars that are there and those that come; half a line is none', async () => {
  const { feed } = await growing(
    HEADER + line(0) + line(1).slice(0, 20),
    path => appendFile(path, line(1).slice(20, 30)),
    path => appendFile(path, line(1).slice(30) + line(2)),
  )
  expect(await take(feed, 3)).toEqual([0, 1, 2])
})

test.each<[string, (path: string) => Promise<void>, string]>([
  ['cut', path => truncate(path, 5), 'the file was cut to 5 bytes'],
  ['removed', path => rename(path, `${path}.old`), 'the file is gone'],
  [
    'replaced',
    async path => {
      await writeFile(`${path}.new`, HEADER + line(5))
      await rename(`${path}.new`, path)
    },
    'another file was put in its place',
  ],
  ['continued with text', path => appendFile(path, 'rubbish\n'), 'line 3: expected 6 fields'],
  [
    'continued without a line break',
    path => appendFile(path, '0'.repeat(5_000)),
    'line 3 has more than 4096 bytes',
  ],
])('a feed of a file that is %s stops with a sentence that names it', async (_, act, sentence) => {
  const { path, feed } = await growing(HEADER + line(0), act)
  const stopped = take(feed, 99)
  await expect(stopped).rejects.toThrow(sentence)
  await expect(stopped).rejects.toThrow(`the feed ${path}: `)
})

test('a feed of a file needs the header of a book, and the file to exist', async () => {
  const { feed } = await growing('open,high\n')
  await expect(take(feed, 1)).rejects.toThrow('line 1: expected the columns t,o,h,l,c,v')
  const nowhere = fileFeed('/nowhere/bars.csv', newReader, async () => {})
  await expect(take(nowhere, 1)).rejects.toThrow('the feed /nowhere/bars.csv: it cannot be read (ENOENT')
})

test('a feed of a pipe gives its bars in whatever pieces they come, and ends with it', async () => {
  const stream = new PassThrough()
  const taken = take(streamFeed('standard input', stream, newReader), 99)
  for (const byte of `${HEADER}${line(0)}${line(1)}`) stream.write(byte)
  stream.end(line(2).slice(0, -1))
  expect(await taken).toEqual([0, 1])
})

test('a feed of a silent pipe is left when the runner is asked to stop', async () => {
  const stop = new AbortController()
  const bars = streamFeed('standard input', new PassThrough(), newReader).bars(stop.signal)
  const next = bars[Symbol.asyncIterator]().next()
  stop.abort()
  expect(await next).toMatchObject({ done: true })
})

async function serve(...answers: readonly RequestListener[]): Promise<string> {
  const left = [...answers]
  const server = createServer((request, response) => {
    const answer = left.length > 1 ? left.shift()! : left[0]!
    answer(request, response)
  })
  return `${(await listenForTest(server)).replace('//', '//user:secret@')}/bars?token=secret`
}

const text =
  (body: string, status = 200): RequestListener =>
  (_, response) => {
    response.writeHead(status).end(body)
  }

const bars = (...numbers: readonly number[]) => text(HEADER + numbers.map(line).join(''))

function poll(url: string, options: { nowMs?: number; last?: number | null; pauses?: number[] } = {}) {
  const notes: string[] = []
  const { nowMs = openOf(100), last = null, pauses = [] } = options
  const world = { nowMs }
  const feed = pollFeed({
    url,
    timeframeMs: FOUR_HOURS_MS,
    readAnswer: answer => readBarsAnswer(answer, '4h', world.nowMs),
    now: () => world.nowMs,
    pause: async ms => {
      pauses.push(ms)
      world.nowMs += 20_000
    },
    note: note => notes.push(note),
    lastKnown: () => (last === null ? null : openOf(last)),
  })
  return { feed, notes }
}

test('a polled feed gives closed bars in ascending order, from a table, from lists and from objects', async () => {
  const row = (i: number, volume: number | null) => [openOf(i), 100, 101, 99, 100, volume]
  const lists = text(JSON.stringify([row(4, 1), row(3, null)]))
  const objects = text(JSON.stringify([{ t: openOf(5), o: 100, h: 101, l: 99, c: 100, v: 1, n: 7 }]))
  const { feed } = poll(await serve(bars(0, 1, 2), lists, objects), { nowMs: openOf(6) })
  expect(await take(feed, 6)).toEqual([0, 1, 2, 3, 4, 5])
  const forming = poll(await serve(bars(0, 1), bars(2)), { nowMs: openOf(2) - 10_000 })
  expect(await take(forming.feed, 1)).toEqual([0])
})

test('a polled feed takes a bar as final a moment after its close, because an exchange may revise it until then', async () => {
  const revised = text(`${HEADER}${openOf(0)},100,109,99,108,7\n`)
  const { feed } = poll(await serve(bars(0), revised), { nowMs: openOf(1) + 4_999 })
  const stop = new AbortController()
  for await (const bar of feed.bars(stop.signal)) {
    expect(bar).toMatchObject({ t: openOf(0), c: 108 })
    stop.abort()
  }
  expect(stop.signal.aborted).toBe(true)
  expect(await take(poll(await serve(bars(0)), { nowMs: openOf(1) + 5_000 }).feed, 1)).toEqual([0])
})

test('a polled feed retries after every failure, waits longer each time, and logs once, without the secret of its address', async () => {
  const pauses: number[] = []
  const url = await serve(
    bars(0),
    text('no', 500),
    text('<html>maintenance</html>'),
    text('{"error":"busy"}'),
    request => void request.destroy(),
    text('[1,'),
    bars(0, 1),
  )
  const { feed, notes } = poll(url, { pauses })
  expect(await take(feed, 2)).toEqual([0, 0, 1])
  expect(pauses.slice(1, 6)).toEqual([1_000, 2_000, 5_000, 10_000, 30_000])
  expect(notes).toHaveLength(2)
  expect(notes[0]).toContain('it answered 500; trying again')
  expect(notes.join()).not.toContain('secret')
})

test('a polled feed stops at a row that is no bar, and says which', async () => {
  const answer = text(`${HEADER}${line(0)}${openOf(1)},1,1,2,1,1\n`)
  const stopped = take(poll(await serve(answer)).feed, 1)
  await expect(stopped).rejects.toThrow('row 3: h: expected a high')
  await expect(stopped).rejects.not.toThrow('secret')
})

test('a polled feed waits for a bar that is missing, and takes it for a gap after a minute', async () => {
  const soon = openOf(3) + 1_000
  const filled = poll(await serve(bars(0, 2), bars(0, 1, 2)), { nowMs: soon, last: 0 })
  expect(await take(filled.feed, 4)).toEqual([0, 0, 1, 2])
  const empty = poll(await serve(bars(0, 2)), { nowMs: soon, last: 0 })
  expect(await take(empty.feed, 5)).toEqual([0, 0, 0, 0, 2])
})

test('a polled feed reads candles with one-letter names and prices as text, newest first and wrapped in an object', async () => {
  const ohlcv = { o: '100', h: '102', l: '99', c: '101', v: '2' }
  const candle = (i: number) => ({ t: openOf(i), T: openOf(i + 1) - 1, s: 'BTC', i: '4h', ...ohlcv, n: 3 })
  const answer = { code: 0, data: { list: [2, 1, 0].map(candle) } }
  const { feed } = poll(await serve(text(JSON.stringify(answer))))
  const stop = new AbortController()
  const taken: Bar[] = []
  for await (const bar of feed.bars(stop.signal)) if (taken.push(bar) === 3) stop.abort()
  expect(taken).toEqual([0, 1, 2].map(i => ({ t: openOf(i), o: 100, h: 102, l: 99, c: 101, v: 2 })))
})

test('a polled feed that brings no table of bars at first ends with the sentence of the importer', async () => {
  const ended = take(poll(await serve(text('{"error":"busy"}'))).feed, 1)
  await expect(ended).rejects.toThrow('expected JSON with one list of rows, got none')
})
