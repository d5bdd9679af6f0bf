// Who sees only the public store: every write with its key, length, headers and time. He does not distinguish seals with signals from
// empty ones, and the same observer does if the time of a write depends on what is sealed.
import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { createRandom } from '#pipeline/sample/random.ts'
import { SEAL_MS } from '#storage/seals/seal.ts'
import { signalItem } from '../support/seals/chain.ts'
import { memoryRedis, sealScene, stepped, watchWrites } from '../support/signals/seal-scene.ts'

type Seen = { readonly features: readonly number[]; readonly hasSignals: boolean }

/** Seals of random signals, by a sealer whose work takes time: some for every operation, and more for what it reads and writes. */
async function observe(count: number, seed: number, waits: boolean): Promise<readonly Seen[]> {
  const { uniform } = createRandom(seed)
  const redis = memoryRedis()
  const scene = sealScene(redis)
  const { parts, clock } = scene
  const writes: { atMs: number; bytes: number; text: number }[] = []
  watchWrites(parts.store, (key, bytes, headers) =>
    writes.push({ atMs: clock.ms, bytes: bytes.length, text: (key + JSON.stringify(headers)).length }),
  )
  const working = stepped(parts, async (run, args) => {
    const result = await run()
    clock.ms += Math.floor(uniform() * 40) + Math.floor(sizeOf([args, result]) / 4)
    return result
  })
  const seen: Seen[] = []
  for (let n = 0; n < count; n++) {
    const fired = uniform() < 0.35 ? 1 + Math.floor(uniform() * 8) : 0
    for (let i = 0; i < fired; i++) logSignal(redis.log, clock.ms)
    scene.next()
    writes.length = 0
    const dueMs = Math.floor(clock.ms / SEAL_MS) * SEAL_MS
    await scene.seal(working, waits ? undefined : async () => {})
    const [first, last] = [writes[0]!, writes.at(-1)!]
    const text = writes.reduce((sum, write) => sum + write.text, 0)
    const bytes = [first.bytes, last.bytes, writes.reduce((sum, write) => sum + write.bytes, 0)]
    const features = [writes.length, first.atMs - dueMs, last.atMs - dueMs, ...bytes, text]
    seen.push({ features, hasSignals: fired > 0 })
  }
  return seen
}

/** Bytes, about. */
const sizeOf = (value: unknown): number =>
  Array.isArray(value)
    ? value.reduce((sum: number, each) => sum + sizeOf(each), 0)
    : typeof value === 'string' || value instanceof Uint8Array
      ? value.length
      : 0

function logSignal(log: ReturnType<typeof memoryRedis>['log'], atMs: number): void {
  const seq = log.length + 1
  const body = signalItem(seq)
  const sha1 = createHash('sha1').update(body).digest('hex')
  log.push([`${seq}-0`, Object.entries({ body, sha1, alias: 'alder', to: '', at: String(atMs) }).flat()])
}

const share = (all: readonly Seen[], is: (seen: Seen) => boolean): number =>
  all.filter(is).length / all.length

/** How often a rule is right, where seals with signals and without count the same: half is chance. */
function accuracy(all: readonly Seen[], says: (seen: Seen) => boolean): number {
  const { true: having = [], false: empty = [] } = Object.groupBy(all, ({ hasSignals }) => `${hasSignals}`)
  return (share(having, says) + share(empty, seen => !says(seen))) / 2
}

/** The accuracy on the second half of the rule that is best on the first: a threshold of a feature. */
function guessed(all: readonly Seen[]): number {
  const half = all.length >> 1
  const known = all.slice(0, half)
  const rules = known[0]!.features.flatMap((_, feature) => {
    const values = known.map(({ features }) => features[feature]!).sort((a, b) => a - b)
    const thresholds = new Set(Array.from({ length: 40 }, (_, i) => values[Math.floor((i / 40) * half)]!))
    return [...thresholds].flatMap(least =>
      [1, -1].map(sign => (seen: Seen) => sign * (seen.features[feature]! - least) > 0),
    )
  })
  const ranked = rules.map(says => ({ says, right: accuracy(known, says) })).sort((a, b) => b.right - a.right)
  return accuracy(all.slice(half), ranked[0]!.says)
}

/** Five standard deviations of chance over the second half of a month. */
const CHANCE = 0.5 + 5 * 0.5 * Math.sqrt(1 / 750 + 1 / 1_400)

test('an observer of a month of public writes, with their lengths, headers and times, distinguishes seals with signals from empty ones no better than chance', async () => {
  const seen = await observe(4_320, 1, true)
  expect(share(seen, ({ hasSignals }) => hasSignals)).toBeCloseTo(0.35, 1)
  expect(guessed(seen)).toBeLessThan(CHANCE)
})

test('the observer of public writes distinguishes seals with signals from empty ones if a seal is written as soon as its work is done', async () => {
  expect(guessed(await observe(600, 2, false))).toBeGreaterThan(0.8)
})
