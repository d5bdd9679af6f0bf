// Answers at a risk level that is not cached, beside a plain implementation.
import { join } from 'node:path'
import { generateSnapshot, publishWithoutFiles } from '../harness/generated-store.ts'
import type { Ground } from '../harness/ground.ts'
import { compareSides, type Load, load, writeLevels } from '../harness/load.ts'
import { atLeast, atMost, type Figure, type Section } from '../harness/report.ts'
import { type PinnedServer, startScript, startTier } from '../harness/servers.ts'

const DAYS = 4000
const ROUNDS = 5
const SECONDS = 4

/** So long that the first requests, which wait until all connections are accepted, are less than one in a hundred. */
const LONG_SECONDS = 10
const CONNECTIONS = 32
const TARGET = 4
const COMPRESSED_TARGET = 6
const SLOWEST_MS = 20

const PATH = '/v1/strategies/s0000/curve?risk_pct='
const PLAIN_PATH = '/curve?risk_pct='

export async function measureRescale({ folder, stops }: Ground): Promise<Section> {
  const store = await publishWithoutFiles(
    join(folder, 'generated'),
    generateSnapshot(1, DAYS, '2026-07-01T00:15:00Z'),
  )
  const tier = await startTier(store.url)
  stops.push(tier.stop)
  const plain = await startScript(join(import.meta.dirname, 'plain-server.ts'), [String(DAYS)])
  stops.push(plain.stop)
  const levels = await writeLevels(join(folder, 'levels.lua'), `${PATH}LEVEL`)
  const plainLevels = await writeLevels(join(folder, 'plain.lua'), `${PLAIN_PATH}LEVEL`)
  const ours = (coding: string) => asked(tier, `${PATH}0.011`, coding, levels)
  const theirs = (coding: string) => asked(plain, `${PLAIN_PATH}0.011`, coding, plainLevels)
  const figures = [
    await compare('uncompressed', ours('identity'), theirs('identity'), TARGET),
    await compare('zstd against gzip 6', ours('zstd'), theirs('gzip'), COMPRESSED_TARGET),
  ]
  await tier.stop()
  const both = await startTier(store.url, 'all')
  stops.push(both.stop)
  for (const coding of ['identity', 'zstd']) {
    const order = asked(both, `${PATH}0.011`, coding, levels)
    await load({ ...order, ...PACE }) // until everything is compiled
    const { p99Ms, perSecond } = await load({ ...order, ...PACE, seconds: LONG_SECONDS })
    const figure = atMost(`p99 at ${CONNECTIONS} connections, all cores, ${coding}`, p99Ms, SLOWEST_MS, 'ms')
    figures.push({ ...figure, reached: `${figure.reached} (${Math.round(perSecond)} a second)` })
  }
  return {
    title: 'Answers at a risk level',
    about:
      `The equity of ${DAYS} days at another level each time, beside JSON.stringify of objects through Hono, each on one ` +
      `core, wrk on the other: ${CONNECTIONS} connections, ${ROUNDS} rounds of ${SECONDS} s each in turns. Ratios are of ` +
      'answers for the same processor time.',
    figures,
  }
}

const PACE = { seconds: SECONDS, connections: CONNECTIONS }

type Asked = Omit<Load, 'seconds' | 'connections'>

const asked = (server: PinnedServer, path: string, coding: string, script: string): Asked => ({
  ...{ server, path, script },
  headers: { 'accept-encoding': coding },
})

async function compare(name: string, ours: Asked, theirs: Asked, target: number): Promise<Figure> {
  const side = (one: Asked) => () => load({ ...one, ...PACE })
  const { first, second, ratio } = await compareSides(side(ours), side(theirs), ROUNDS)
  const rates = `${Math.round(first.perSecond)} and ${Math.round(second.perSecond)} a second`
  return { ...atLeast(name, ratio, target), reached: `${ratio.toFixed(2)} (${rates})` }
}
