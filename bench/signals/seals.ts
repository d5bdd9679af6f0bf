// What a seal costs beside a bare signature and two files, how large a year of seals is, and how long a reader checks it.
import { mkdir, open } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { DAY_MS, toIsoInstant } from '#core/calendar.ts'
import { commit } from '#signals/log/commit.ts'
import { sealOnce } from '#signals/seals/sealer.ts'
import { openDays } from '#static-build/open-days.ts'
import { openStore } from '#storage/open-store.ts'
import { chainFaults, openSeals, readOriginKeys, readSeals } from '#storage/seals/chain.ts'
import { SEAL_MS } from '#storage/seals/seal.ts'
import { createSigner, newPrivateKeyPem } from '#storage/signature.ts'
import { copyAll, createMemoryStores } from '#test/support/books/publish-in-memory.ts'
import { createChain, signalItem } from '#test/support/seals/chain.ts'
import { startTestRedis } from '#test/support/servers/redis.ts'
import { signalContent } from '#test/support/signals/signals.ts'
import type { Ground } from '../harness/ground.ts'
import { median } from '../harness/load.ts'
import { type Figure, plain, type Section } from '../harness/report.ts'

const ROUNDS = 60
const ITEMS = 100

/** A year, and what it has: a signal an hour. */
const YEAR = ['2025-01-01', '2025-12-31'] as const
const SIGNALS_EVERY_MS = 3_600_000

export async function measureSeals(ground: Ground): Promise<Section> {
  return {
    title: 'Seals',
    about:
      `A seal is what \`sealOnce\` does with Redis and two stores on disk: check the chain, record, seal, head; ${ROUNDS} rounds in turns ` +
      'with an Ed25519 signature and two new files, each flushed. A year has a signal an hour, day files, and an opening for each day; ' +
      'what a reader of it needs is processor time, from files, on one thread.',
    figures: [...(await measureSealer(ground)), ...(await measureYear(ground))],
  }
}

async function measureSealer({ folder, stops }: Ground): Promise<Figure[]> {
  const server = await startTestRedis()
  stops.push(server.stop)
  const redis = await server.connect()
  const signer = createSigner(newPrivateKeyPem())
  const [store, privateStore] = await Promise.all(
    ['seals', 'records'].map(name => openStore(pathToFileURL(join(folder, name)).href)),
  )
  let nowMs = Date.parse('2025-01-01T00:00:30Z')
  const parts = {
    redis,
    store: store!,
    privateStore: privateStore!,
    signer,
    secret: 'secret',
    now: () => nowMs,
  }
  const seal = async (items: number): Promise<number> => {
    const signals = Array.from({ length: items }, (_, i) => ({
      content: signalContent(`${nowMs}-${i}`),
      onlyFor: null,
    }))
    if (items > 0) await commit(redis, signals, nowMs)
    nowMs += SEAL_MS
    return timed(() => sealOnce(parts, async () => undefined))
  }
  await mkdir(join(folder, 'bare'))
  const rounds: { readonly empty: number; readonly full: number; readonly bare: number }[] = []
  for (let i = 0; i <= ROUNDS; i++) {
    const round = {
      empty: await seal(0),
      full: await seal(ITEMS),
      bare: await timed(() => writeBare(folder, i)),
    }
    if (i > 0) rounds.push(round)
  }
  const of = (pick: (round: (typeof rounds)[number]) => number): number => median(rounds.map(pick))
  async function writeBare(within: string, i: number): Promise<void> {
    const bytes = signer.sign(Buffer.alloc(300))
    for (const name of ['a', 'b']) {
      await using file = await open(join(within, 'bare', `${i}${name}`), 'wx')
      await file.writeFile(bytes)
      await file.sync()
    }
  }
  return [
    plain(
      'an empty seal',
      of(({ empty }) => empty),
      'ms',
    ),
    plain(
      `a seal with ${ITEMS} items`,
      of(({ full }) => full),
      'ms',
    ),
    plain(
      'a signature and two files',
      of(({ bare }) => bare),
      'ms',
    ),
    plain(
      'an empty seal to those',
      of(({ empty, bare }) => empty / bare),
      'times',
    ),
    plain(
      `a seal with ${ITEMS} items to those`,
      of(({ full, bare }) => full / bare),
      'times',
    ),
  ]
}

/** Milliseconds of processor time. */
async function costOf(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now()
  await work()
  return performance.now() - begun
}

/** Made in memory, and read from files, as a reader does who has a copy of the store. */
async function measureYear({ folder }: Ground): Promise<Figure[]> {
  const stores = createMemoryStores()
  const [from, to] = YEAR.map(date => Date.parse(date)) as [number, number]
  const chain = createChain(stores, toIsoInstant(from))
  const signals = Array.from({ length: (to + DAY_MS - from) / SIGNALS_EVERY_MS }, (_, i) => i)
  const at = Object.fromEntries(
    signals.map(i => [toIsoInstant(from + i * SIGNALS_EVERY_MS), [signalItem(i + 1)]] as const),
  )
  await chain.sealUntil(toIsoInstant(to + DAY_MS), at)
  await openDays(stores, YEAR[1])
  const { length } = chain.all[0]!.bytes
  for (const { seal } of chain.all.slice(1, -1))
    await stores.store.remove(`v1/seals/${String(seal.n).padStart(9, '0')}`)
  const store = await openStore(pathToFileURL(join(folder, 'year')).href)
  await copyAll(stores.store, store)
  const sizeOf = async (prefix: string, within = store) => {
    const read = (await within.list(prefix)).map(async key => (await within.read(key))?.length ?? 0)
    return (await Promise.all(read)).reduce((sum, bytes) => sum + bytes, 0) / 1e6
  }
  const faults: string[] = []
  const read = (key: string) => store.read(key)
  const readMs = await costOf(async () => void (await readSeals(read)))
  const all = await readSeals(read)
  const keys = await readOriginKeys(read, all)
  const chainMs = await costOf(async () =>
    faults.push(...chainFaults(all, origin => keys.get(origin) ?? null)),
  )
  const openMs = await costOf(async () => faults.push(...(await openSeals(read, all, YEAR[1])).faults))
  if (faults.length > 0) throw new Error(`the year does not verify: ${faults[0]}`)
  return [
    plain('a seal', length, 'bytes'),
    plain('a year of seals', await sizeOf('v1/seals/days/'), 'MB'),
    plain('its openings', await sizeOf('v1/seals/openings/'), 'MB'),
    plain('its private records', await sizeOf('seals/', stores.privateStore), 'MB'),
    plain('a year: read', readMs / 1000, 's'),
    plain('a year: signatures and chain', chainMs / 1000, 's'),
    plain('a year: openings', openMs / 1000, 's'),
    plain('a year: all of it', (readMs + chainMs + openMs) / 1000, 's'),
  ]
}
