import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { CURRENT_KEY } from '#core/contract/pointer.ts'
import { aLedger, aModule, catalogue, moduleText } from '#test/pipeline/night/night-book.ts'
import { startS3Without } from '#test/support/servers/s3-without.ts'
import { NOW_MS, run } from '../made-up.ts'
import { BOOK, openBook } from '../own-book.ts'

/** Puts a file where the lock has its folder, so that nothing can be written there. */
function breakLock(store: string): void {
  rmSync(join(store, 'lock'), { recursive: true })
  writeFileSync(join(store, 'lock'), '')
}

const summarySchema = z.object({
  version: z.string(),
  window: z.object({ from: z.string(), to: z.string() }),
  strategies: z.array(z.object({ id: z.string(), verification_state: z.string(), trades: z.number() })),
  yearly_returns_pct: z.array(z.record(z.string(), z.unknown())),
  artifacts: z.object({ count: z.number(), bytes: z.number() }),
  timings_ms: z.record(z.string(), z.number()),
})

test('a build prints a table for people or one JSON document for a program, and refuses a version older than the served one', async () => {
  const { folder, build, served } = await openBook()
  const people = await build()
  expect([people.code, people.err]).toEqual([0, ''])
  expect(people.out).toMatch(/^published 2024-01-15T06:00:00Z {3}2024-01-01 to 2024-01-14\n/)
  expect(people.out).toMatch(/^ash +single +14 +1 +3\.00 /m)
  expect(await served()).toBe('2024-01-15T06:00:00Z')

  const program = await build(['--json', '--version', '2024-01-16T00:15:00Z', '--effort', 'quick'])
  expect([program.code, program.err]).toEqual([0, ''])
  expect(program.out).toMatch(/^\{.*\}\n$/)
  const summary = summarySchema.parse(JSON.parse(program.out))
  expect(summary).toMatchObject({
    version: '2024-01-16T00:15:00Z',
    window: { from: '2024-01-01', to: '2024-01-14' },
    strategies: [{ id: 'ash', verification_state: 'single_verified', trades: 1 }],
    timings_ms: { read: 0, compute: 0, publish: 0 },
  })
  expect((await readdir(folder)).sort()).toEqual(['book', 'store', 'store.private'])

  const older = await build(['--version', '2024-01-15T23:59:59Z'])
  expect(older).toEqual({
    code: 1,
    out: '',
    err:
      'highwater: the version 2024-01-15T23:59:59Z is older than the served version 2024-01-16T00:15:00Z: use a ' +
      'later --version\n',
  })
  expect(await served()).toBe('2024-01-16T00:15:00Z')
})

test('a build of a book that does not exist makes no folder for the stores', async () => {
  const { folder, build } = await openBook()
  const { code, err } = await build(['--book', 'nope'])
  expect([code, err]).toEqual([1, expect.stringContaining('nope')])
  expect(await readdir(folder)).toEqual(['book'])
})

const TWICE =
  'let the key lock/probe be created twice (its service ignores `If-None-Match: *`), so that two builds '

test.each([
  ['--store', 'ignored', `${TWICE}would overwrite one another`, ['/bucket/x/lock/probe']],
  ['--private-store', 'ignored', `${TWICE}would overwrite one another`, ['/bucket/x/lock/probe']],
  ['--store', 'refused', 'the service cannot do this (NotImplemented)', []],
] as const)(
  'a build with %s in a bucket whose conditional writes are %s ends with the reason and publishes nothing',
  async (option, conditions, reason, left) => {
    const { folder, stores } = await openBook()
    const { objects, env } = await startS3Without(conditions)
    const args = ['build', '--book', 'book', '--store', stores.url, option, 's3://bucket/x']
    const { code, out, err } = await run(args, { cwd: folder, env: { BUILD_EFFORT: 'quick', ...env } })
    expect([code, out]).toEqual([1, ''])
    expect(err).toContain('s3://bucket/x')
    expect(err).toContain(`${reason}: use a service with conditional writes, such as AWS S3`)
    expect([...objects.keys()]).toEqual(left)
    expect(await readdir(folder)).toEqual(['book'])
  },
)

test('a build that published exits 0 if only the lock cannot be released, and warns of it', async () => {
  const { folder, build, served } = await openBook()
  // The stopwatch is read after every step: this one breaks the lock as soon as the pointer has moved.
  const elapsed = () => {
    if (existsSync(join(folder, 'store', CURRENT_KEY))) breakLock(join(folder, 'store'))
    return 0
  }
  const { code, out, err } = await build([], { elapsed })
  expect([code, out]).toEqual([0, expect.stringContaining('published 2024-01-15T06:00:00Z')])
  expect(err).toMatch(/^warning: the lock was not released; .*: cannot replace file:.*\n$/)
  expect(await served()).toBe('2024-01-15T06:00:00Z')
})

test('a build that failed reports why, also if the lock cannot be released', async () => {
  const { folder, build } = await openBook({
    ...BOOK,
    'catalogue.yaml': catalogue([aLedger('ash'), aModule('oak')], {}, '24h'),
    'strategies/oak.ts': moduleText('oak', { body: `onBar: () => { throw new Error('not today') }` }),
  })
  // The clock is read once more when the lock is taken, and before anything is computed.
  const now = () => {
    if (existsSync(join(folder, 'store/lock'))) breakLock(join(folder, 'store'))
    return NOW_MS
  }
  const { code, err } = await build([], { now })
  expect(code).toBe(1)
  expect(err).toMatch(/^warning: the lock was not released/)
  expect(err).toMatch(/\n {2}strategies\/oak\.ts.*not today/)
})

test.each([[['--restate', 'oak']], [['--remove', 'oak', '--reason', ' ']], [['--reason', 'why']]])(
  'a build refuses a declaration without a reason, and a reason without one: %j',
  async options => {
    const { code, err } = await run(['build', '--book', 'x', '--store', 'file:///x', ...options])
    expect(code).toBe(2)
    expect(err).toContain(
      '--reason: expected a line of text that every user may read, together with --restate',
    )
  },
)
