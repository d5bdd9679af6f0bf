// `highwater purge`, and what the commands that move the pointer do at their end.
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { describe, expect, inject, test } from 'vitest'
import { openStore } from '#storage/open-store.ts'
import { readHead } from '#storage/pointer-log.ts'
import { TINY_VERSION } from '#test/support/books/publish-book.ts'
import { pointAt } from '#test/support/history/point-to.ts'
import { startSmallCache } from '#test/support/history/small-cache.ts'
import { temporaryFolder } from '#test/support/temporary-folder.ts'
import { run } from './made-up.ts'

const OTHER_VERSION = '2025-02-23T00:15:00Z'

/** The environment of a store whose pointer went to another version and came back. */
async function twoVersions(): Promise<{ STORE_URL: string }> {
  const folder = join(await temporaryFolder(), 'store')
  await cp(fileURLToPath(inject('tinyStore').url), folder, { recursive: true })
  const STORE_URL = pathToFileURL(folder).href
  const store = await openStore(STORE_URL)
  const head = await readHead(store)
  await pointAt(store, OTHER_VERSION, 'digest of nothing', TINY_VERSION)
  await pointAt(store, TINY_VERSION, head?.entry.manifest_sha256 ?? '')
  return { STORE_URL }
}

const now = (): number => Date.parse(TINY_VERSION) + 1_000

const NOBODY = { CDN_PURGE_URL: 'http://127.0.0.1:1' }
const WHY = 'caches may give an older version: http://127.0.0.1:1 cannot be asked: '

describe('highwater purge', () => {
  test('prints what became of it, for people and for programs', async () => {
    const cache = await startSmallCache(TINY_VERSION)
    const env = { ...(await twoVersions()), CDN_PURGE_URL: cache.url }
    expect(await run(['purge', '--json'], { env, now })).toEqual({
      code: 0,
      out: `${JSON.stringify({ kind: 'purged', seq: 3, version: TINY_VERSION })}\n`,
      err: '',
    })
    expect(await run(['purge'], { env, now })).toEqual({
      code: 0,
      out: 'nothing to purge: caches follow the pointer\n',
      err: '',
    })
  })

  test('with --again purges what was purged before', async () => {
    const cache = await startSmallCache(TINY_VERSION)
    const env = { ...(await twoVersions()), CDN_PURGE_URL: cache.url }
    await run(['purge'], { env })
    cache.kept.set('/v1/strategies', OTHER_VERSION) // a tier that was late filled the cache
    const again = await run(['purge', '--again'], { env })
    expect(again).toEqual({ code: 0, out: `purged: caches give ${TINY_VERSION}\n`, err: '' })
    expect(cache.kept).toEqual(new Map([['/v1/dataset', TINY_VERSION]]))
  })

  test('exits 1 with the reason where caches do not follow, so that a timer tells', async () => {
    const { code, out, err } = await run(['purge'], { env: { ...(await twoVersions()), ...NOBODY } })
    expect([code, out]).toEqual([1, ''])
    expect(err).toContain(`highwater: ${WHY}`)
  })

  test('exits 2 where no cache is named', async () => {
    expect(await run(['purge'], { env: await twoVersions() })).toEqual({
      code: 2,
      out: '',
      err: 'highwater: no cache is named: CDN_PURGE_URL or CDN_PURGE_COMMAND says how to purge (--help)\n',
    })
  })
})

describe('a command that appended an entry', () => {
  test('exits 0 whatever becomes of the purge, and names the remedy: the entry stands', async () => {
    const env = { ...(await twoVersions()), ...NOBODY }
    const { code, out, err } = await run(['refresh', '--json'], { env, now })
    expect([code, JSON.parse(out)]).toEqual([0, expect.objectContaining({ seq: 4, version: TINY_VERSION })])
    expect(err).toContain(`warning: ${WHY}`)
    expect(err).toContain('; `highwater purge` tries again\n')
    expect((await readHead(await openStore(env.STORE_URL)))?.entry.seq).toBe(4)
  })

  test('says nothing of caches where none is named, or nothing is due', async () => {
    const env = await twoVersions()
    expect((await run(['refresh'], { env, now })).err).toBe('')
    const cache = await startSmallCache(TINY_VERSION)
    const withCache = { ...env, CDN_PURGE_URL: cache.url }
    expect((await run(['refresh'], { env: withCache, now })).err).toBe(
      `purged: caches give ${TINY_VERSION}\n`,
    )
    expect((await run(['refresh'], { env: withCache, now })).err).toBe('')
  })
})
