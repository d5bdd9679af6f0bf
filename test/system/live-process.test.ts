// `highwater live` as a process: killed at random while its feed grows, and started again; twice at the same time.
import { appendFile, rm } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HEAD } from '#signals/redis/keys.ts'
import { logged } from '../signals/live/live-kit.ts'
import { startTestRedis } from '../support/servers/redis.ts'
import { until } from '../support/signals/delivery.ts'
import {
  cursorOf,
  expectAll,
  type LiveRedis,
  liveBook,
  playKilledRunner,
  startLive,
} from '../support/signals/live-kills.ts'

let stop: () => Promise<void>
let server: LiveRedis

beforeAll(async () => {
  const started = await startTestRedis()
  stop = started.stop
  server = { url: started.url, redis: await started.connect() }
})
afterAll(() => stop())

/** `make soak` runs others. */
const SEEDS = Array.from({ length: 8 }, (_, i) => i + 1)

describe('a live runner', () => {
  test.concurrent.each(SEEDS)('killed at random (seed %i) and started again fires everything once', seed =>
    playKilledRunner(server, seed),
  )

  test('started a second time names the process that holds the lease, and fires nothing', async () => {
    const own = await liveBook(99, 10)
    const first = startLive(server, own)
    await first.prints(/follow/)
    const second = await startLive(server, own).ended
    expect(second).toMatchObject({ code: 1 })
    expect(second.stderr).toContain('another runner follows M99/4h: process')
    for (const line of own.lines) await appendFile(own.feed, `${line}\n`)
    await until(async () => (await cursorOf(server, own)) === own.endMs)
    first.kill('SIGTERM')
    expect(await first.ended).toMatchObject({ code: 0 })
    await expectAll(server, own)
    await rm(own.folder, { recursive: true, force: true })
  })

  test('ends with a sentence and exit code 1 at an invalid line of its feed, after it fired what came before', async () => {
    const own = await liveBook(98, 10)
    const runner = startLive(server, own, '--json')
    await runner.prints(/follow/)
    await appendFile(own.feed, `${own.lines.join('\n')}\nrubbish\n`)
    const { code, stderr, stdout } = await runner.ended
    expect(code).toBe(1)
    expect(stderr).toContain('line 12: expected 6 fields')
    expect(JSON.parse(stdout.split('\n')[0]!)).toMatchObject({ message: expect.stringContaining('follow') })
    await expectAll(server, own)
    expect(Number(await server.redis.hget(HEAD, 'seq'))).toBe((await logged(server.redis)).length)
    await rm(own.folder, { recursive: true, force: true })
  })
})
