// The tier behind our Varnish against stock Varnish on static files. Both answer out of their caches, as a CDN does; the
// difference is what our configuration does with each request (canonical key, coding, CORS) and what the tier's answers need.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { EXAMPLE_SITE, type Site } from '#cli/services/edge/site.ts'
import { freePort } from '#cli/services/free-port.ts'
import { versionFolder } from '#core/contract/artifacts.ts'
import { canonicalPath, canonicalPoints, DATASET_ROUTES } from '#core/dataset/resources/routes.ts'
import { SAMPLE_VERSION } from '#pipeline/sample/write-sample-book.ts'
import { startNginx, startVarnish, startVarnishIn } from '../../deploy/layers.ts'
import type { Ground } from '../harness/ground.ts'
import { median } from '../harness/load.ts'
import { libraryPath, runProgram, unpacked } from '../harness/programs.ts'
import { atLeast, plain, type Section } from '../harness/report.ts'
import { startTier } from '../harness/servers.ts'

const ROUNDS = 11
const SECONDS = 2
const CONNECTIONS = 32
/** The tier behind Varnish must reach this share of Varnish on files. */
const TARGET = 0.9

const SIDS = ['alder', 'birch', 'cedar']
const ADDRESSES = DATASET_ROUTES.flatMap(route =>
  canonicalPoints(route, SIDS).map(params => canonicalPath(route.id, params)),
)
const PINNED = ADDRESSES.map(address => address.replace('/v1', `/${versionFolder(SAMPLE_VERSION)}`))

/** Rounds alternate, each in the other order than the one before, so that what else the machine does meets both. */
export async function measureCdn(ground: Ground): Promise<Section> {
  const { ours, stock } = await startBoth(ground)
  const sides = [
    { url: ours, script: await writeScript(ground.folder, 'ours', ADDRESSES), rates: [] as number[] },
    { url: stock, script: await writeScript(ground.folder, 'stock', PINNED), rates: [] as number[] },
  ] as const
  for (const { url, script } of sides) await load(url, script, 1) // fills the caches
  for (let round = 0; round < ROUNDS; round++) {
    const order = round % 2 === 0 ? sides : sides.toReversed()
    for (const { url, script, rates } of order) rates.push(await load(url, script, SECONDS))
  }
  const [mine, theirs] = sides
  return {
    title: 'Behind Varnish',
    about:
      `${ADDRESSES.length} addresses of the sample book, gzip, out of warm caches over ${CONNECTIONS} connections; both servers and wrk ` +
      `on the same cores; ${ROUNDS} rounds of ${SECONDS} s each in turns. The ratio is the median of rounds side by side.`,
    figures: [
      plain('the tier behind Varnish', median(mine.rates), 'answers a second'),
      plain('stock Varnish on files', median(theirs.rates), 'answers a second'),
      atLeast('ours to stock', median(mine.rates.map((rate, i) => rate / theirs.rates[i]!)), TARGET),
    ],
  }
}

async function startBoth({ folder, sample, stops }: Ground): Promise<{ ours: string; stock: string }> {
  const begin = async <Started extends { readonly stop: () => Promise<void> }>(
    starting: Promise<Started>,
  ): Promise<Started> => {
    const started = await starting
    stops.push(started.stop)
    return started
  }
  const subfolder = async (name: string): Promise<string> => {
    await mkdir(join(folder, name))
    return join(folder, name)
  }
  const tier = new URL((await begin(startTier(sample.url, 'all'))).url)
  const nginx = { host: '127.0.0.1', port: await freePort() }
  const site: Site = {
    ...EXAMPLE_SITE,
    store: sample.folder,
    tier: { host: tier.hostname, port: Number(tier.port) },
    nginx,
  }
  await begin(startNginx(await subfolder('nginx'), site))
  const ours = await begin(startVarnish(await subfolder('ours'), site, await freePort()))
  const plainFolder = await subfolder('stock')
  const backend = `vcl 4.1; backend files { .host = "${nginx.host}"; .port = "${nginx.port}"; }`
  await writeFile(join(plainFolder, 'highwater.vcl'), backend)
  return { ours: ours.url, stock: (await begin(startVarnishIn(plainFolder, await freePort()))).url }
}

/** A program for wrk that asks for one address after the other. */
async function writeScript(folder: string, name: string, addresses: readonly string[]): Promise<string> {
  const path = join(folder, `${name}.lua`)
  const requests = addresses.map(
    address => `wrk.format('GET', '${address}', {['Accept-Encoding'] = 'gzip', Host = 'x'})`,
  )
  const lines = [
    'local requests',
    'local i = 0',
    'init = function() requests = {',
    requests.join(',\n'),
    '} end',
  ]
  await writeFile(
    path,
    [...lines, 'request = function() i = i % #requests + 1; return requests[i] end', ''].join('\n'),
  )
  return path
}

/** Answers in a second. Anything but 2xx is a mistake of the bench. */
async function load(url: string, script: string, seconds: number): Promise<number> {
  const wrk = await unpacked('wrk', 'wrk')
  const args = ['-t1', `-c${CONNECTIONS}`, `-d${seconds}s`, '-s', script, url]
  const printed = await runProgram(join(wrk, 'usr/bin/wrk'), args, libraryPath(wrk))
  const rate = /Requests\/sec:\s+([\d.]+)/.exec(printed)?.[1]
  if (rate === undefined || /Non-2xx|Socket errors/.test(printed))
    throw new Error(`wrk did not go well:\n${printed}`)
  return Number(rate)
}
