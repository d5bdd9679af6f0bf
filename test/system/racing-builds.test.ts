// Publishers that race: one wins, and every other one gets an error.
import { execFile } from 'node:child_process'
import { appendFile, cp, open, rename, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, inject, test } from 'vitest'
import { run } from '../cli/made-up.ts'
import { type Stores, TINY_BOOK } from '../support/books/publish-book.ts'
import { startHighwater } from '../support/history/highwater-process.ts'
import { s3Env, tinyS3Stores } from '../support/stores/s3-stores.ts'
import { buildArgs, copyStores, faultsOf, NEXT_VERSION, pointerOf } from '../support/stores/stores.ts'
import { lastingFolder } from '../support/temporary-folder.ts'

/** The tiny book with a module that waits to be let go, so that a build lasts as long as a test needs it to. */
async function waitingBook(): Promise<{ readonly book: string; readonly letGo: () => Promise<void> }> {
  const book = join(await lastingFolder(), 'book')
  await cp(TINY_BOOK, book, { recursive: true })
  // Reading a pipe waits until something has written to it.
  const gate = join(book, 'strategies/gate.ts')
  await promisify(execFile)('mkfifo', [gate])
  await appendFile(join(book, 'strategies/ash.ts'), `import './gate.ts'\n`)
  const letGo = async (): Promise<void> => {
    const pipe = await open(gate, 'w')
    await writeFile(`${gate}.open`, '')
    await rename(`${gate}.open`, gate) // for later builds
    await pipe.close()
  }
  return { book, letGo }
}

/** Two builds into a folder, each with a private store of its own: what must not be shared is the pointer. */
async function inFolder(): Promise<Stores[]> {
  const stores = await copyStores(inject('tinyStore'))
  const other = { ...stores, privateUrl: `${stores.privateUrl}2` }
  await cp(fileURLToPath(stores.privateUrl), fileURLToPath(other.privateUrl), { recursive: true })
  return [stores, other]
}

async function inBucket(): Promise<Stores[]> {
  const stores = await tinyS3Stores()
  return [stores, stores]
}

function asProcess(args: readonly string[]) {
  const { pid, ended } = startHighwater(args)
  return { pid, ended: ended.then(({ code, stdout, stderr }) => ({ code, out: stdout, err: stderr })) }
}

/** At the same moment more truly than processes, which take some time to start. */
const inThisProcess = (args: readonly string[], { s3 }: Stores) => ({
  pid: process.pid,
  ended: run(args, { env: s3 === undefined ? {} : s3Env(s3), now: Date.now }),
})

test.each([
  ['a folder', inFolder, asProcess],
  ['a bucket', inBucket, inThisProcess],
])(
  'one of two builds into %s at the same time publishes, and the other names the process that holds the lock',
  async (_, open, begin) => {
    const pairs = await open()
    const { book, letGo } = await waitingBook()
    const same = ['--same-rules', 'ash', '--reason', 'it only waits']
    const builds = pairs.map(stores => begin([...buildArgs(stores, { book }), ...same], stores))
    const first = await Promise.race(
      builds.map(async ({ ended }, i) => ({ i, ...(await ended) })), // the winner waits to be let go
    )
    expect(first).toMatchObject({ code: 1, out: '' })
    const [winner, stores] = [builds[1 - first.i]!, pairs[1 - first.i]!]
    expect(first.err).toContain(
      `another build of ${stores.url} is running: process ${winner.pid} on ${hostname()} since 2`,
    )
    await letGo()
    expect(await winner.ended).toMatchObject({ code: 0 })
    expect(await pointerOf(stores)).toBe(NEXT_VERSION)
    expect(await faultsOf(stores)).toEqual([])
  },
)
