// Published files through nginx as it is configured in front of the tier, beside bare nginx with the same bytes, each alone
// on one core.
import { copyFile, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { versionFolder } from '#core/contract/artifacts.ts'
import type { Ground } from '../harness/ground.ts'
import { compareSides, type Load, load } from '../harness/load.ts'
import { atLeast, type Figure, type Section } from '../harness/report.ts'
import { startBareNginx, startConfiguredNginx } from '../harness/servers.ts'

const ROUNDS = 3
const SECONDS = 2
const CONNECTIONS = 32
const TARGET = 0.9
const CODING = { 'accept-encoding': 'br' }

/** Addresses of small, middle and large answers, and the files that they are. */
const ANSWERS = {
  '/v1/strategies/alder/stats': 'strategies/alder/stats.json',
  '/v1/strategies/alder/curve': 'strategies/alder/curve.json',
  '/v1/export': 'export.daily.json',
} as const

export async function measureStatic({ folder, sample, stops }: Ground): Promise<Section> {
  const root = join(folder, 'files')
  await mkdir(join(root, 'strategies/alder'), { recursive: true })
  for (const file of Object.values(ANSWERS)) {
    await copyFile(join(sample.folder, versionFolder(sample.version), `${file}.br`), join(root, file))
  }
  const configured = await startConfiguredNginx(join(folder, 'configured'), sample.folder)
  stops.push(configured.stop)
  const bare = await startBareNginx(join(folder, 'bare'), root, 'br')
  stops.push(bare.stop)
  const figures: Figure[] = []
  for (const [path, file] of Object.entries(ANSWERS)) {
    const ours = { server: configured, path, headers: CODING, status: 200 }
    const theirs = { ...ours, server: bare, path: `/${file}` }
    figures.push(await compareAnswers(path, ours, theirs))
    const known = { status: 304, headers: await validators(configured.url + path) }
    const knownThere = { status: 304, headers: await validators(`${bare.url}/${file}`) }
    figures.push(await compareAnswers(`${path}, 304`, { ...ours, ...known }, { ...theirs, ...knownThere }))
  }
  return {
    title: 'Published files',
    about:
      'Canonical addresses of the latest version through nginx with the configuration of `deploy/nginx`, and the same bytes ' +
      `through bare nginx, each one process on one core, wrk on the other: ${CONNECTIONS} connections, ${ROUNDS} rounds of ` +
      `${SECONDS} s each in turns, the sample book as br. Ratios are of answers for the same processor time.`,
    figures,
  }
}

type Asked = Pick<Load, 'server' | 'path' | 'headers' | 'status'>

async function compareAnswers(name: string, ours: Asked, theirs: Asked): Promise<Figure> {
  const side = (asked: Asked) => () => load({ ...asked, seconds: SECONDS, connections: CONNECTIONS })
  const { first, second, ratio } = await compareSides(side(ours), side(theirs), ROUNDS)
  const rates = `${Math.round(first.perSecond)} and ${Math.round(second.perSecond)} a second`
  return { ...atLeast(`\`${name}\``, ratio, TARGET), reached: `${ratio.toFixed(2)} (${rates})` }
}

/** The headers of a client that has the answer already. */
async function validators(url: string): Promise<Readonly<Record<string, string>>> {
  const { headers } = await fetch(url, { headers: CODING })
  return { ...CODING, 'if-none-match': headers.get('etag') ?? '' }
}
