// `node bench/cdn.ts`: the tier behind our Varnish against stock Varnish on static files, side by side on this machine.
//
// Both answer out of their caches, as a CDN does; the difference is what our configuration does with each request
// (canonical key, coding, CORS) and what the tier's answers need. wrk on one thread, one answer after the other out of
// the sample book, gzip. Rounds alternate, each in the other order than the one before, so that what else the machine
// does meets both. Writes bench/results/cdn.md and prints it; the exit code is 1 if the target is missed.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { EXAMPLE_SITE, type Site } from '#cli/edge/site.ts'
import { freePort } from '#cli/free-port.ts'
import { versionFolder } from '#core/contract/artifacts.ts'
import { canonicalPath, canonicalPoints, DATASET_ROUTES } from '#core/dataset/resources/routes.ts'
import { SAMPLE_VERSION } from '#pipeline/sample/write-sample-book.ts'
import { type Layer, startNginx, startTier, startVarnish, startVarnishIn } from '../deploy/layers.ts'
import { median } from './harness/load.ts'
import { runProgram } from './harness/programs.ts'

const ROOT = join(import.meta.dirname, '..')
const WRK = join(ROOT, '.servers/wrk')
const ROUNDS = 11
const SECONDS = 2
const CONNECTIONS = 32
const BOUND = 0.9 // the tier behind Varnish must reach this share of Varnish on files

const SIDS = ['alder', 'birch', 'cedar']
const ADDRESSES = DATASET_ROUTES.flatMap(route =>
  canonicalPoints(route, SIDS).map(params => canonicalPath(route.id, params)),
)
const PINNED = ADDRESSES.map(address => address.replace('/v1', `/${versionFolder(SAMPLE_VERSION)}`))

const folder = await mkdtemp(join(tmpdir(), 'highwater-bench-'))
const stops: (() => Promise<void>)[] = [() => rm(folder, { recursive: true, force: true })]
try {
  await runProgram(join(ROOT, 'deploy/servers/unpack-packages.sh'), [WRK, 'wrk'])
  const { ours, stock } = await startBoth()
  const sides = [
    {
      name: 'tier behind Varnish',
      url: ours.url,
      script: await writeScript('ours', ADDRESSES),
      rates: [] as number[],
    },
    {
      name: 'stock Varnish on files',
      url: stock.url,
      script: await writeScript('stock', PINNED),
      rates: [] as number[],
    },
  ] as const
  for (const { url, script } of sides) await load(url, script, 1) // fills the caches
  for (let round = 0; round < ROUNDS; round++) {
    const order = round % 2 === 0 ? sides : sides.toReversed()
    for (const { url, script, rates } of order) rates.push(await load(url, script, SECONDS))
  }
  await record(sides)
} finally {
  for (const stop of stops.toReversed()) await stop()
}

async function startBoth(): Promise<{ ours: Layer; stock: Layer }> {
  const store = join(folder, 'store')
  const storeUrl = pathToFileURL(store).href
  const env = {
    PATH: process.env.PATH,
    STORE_URL: storeUrl,
    PRIVATE_STORE_URL: `${storeUrl}.private`,
    HISTORY_PORT: '0',
  }
  const tier = startTier(env, () => {})
  stops.push(tier.stop)
  const address = await Promise.race([tier.address, tier.ended.then(() => null)])
  if (address === null) throw new Error('the tier ended before it listened')
  const nginx = { host: '127.0.0.1', port: await freePort() }
  const site: Site = { ...EXAMPLE_SITE, store, tier: address, nginx }
  await begin(startNginx(await subfolder('nginx'), site))
  const ours = await begin(startVarnish(await subfolder('ours'), site, await freePort()))
  const plain = await subfolder('stock')
  const backend = `vcl 4.1; backend files { .host = "${nginx.host}"; .port = "${nginx.port}"; }`
  await writeFile(join(plain, 'highwater.vcl'), backend)
  return { ours, stock: await begin(startVarnishIn(plain, await freePort())) }
}

async function begin(starting: Promise<Layer>): Promise<Layer> {
  const layer = await starting
  stops.push(layer.stop)
  return layer
}

async function subfolder(name: string): Promise<string> {
  await mkdir(join(folder, name))
  return join(folder, name)
}

/** A program for wrk that asks for one address after the other. */
async function writeScript(name: string, addresses: readonly string[]): Promise<string> {
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
  const lib = join(WRK, `usr/lib/${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu`)
  const args = ['-t1', `-c${CONNECTIONS}`, `-d${seconds}s`, '-s', script, url]
  const printed = await runProgram(join(WRK, 'usr/bin/wrk'), args, { LD_LIBRARY_PATH: lib })
  const rate = /Requests\/sec:\s+([\d.]+)/.exec(printed)?.[1]
  if (rate === undefined || /Non-2xx|Socket errors/.test(printed))
    throw new Error(`wrk did not go well:\n${printed}`)
  return Number(rate)
}

type Side = { readonly name: string; readonly rates: readonly number[] }

/** Each of ours against the round beside it: what disturbs one disturbs its neighbour. */
function shareOf([ours, stock]: readonly [Side, Side]): number {
  return median(ours.rates.map((rate, i) => rate / stock.rates[i]!))
}

async function record(sides: readonly [Side, Side]): Promise<void> {
  const text = report(sides)
  await writeFile(join(import.meta.dirname, 'results/cdn.md'), text)
  console.log(text)
  process.exitCode = shareOf(sides) >= BOUND ? 0 : 1
}

function report(sides: readonly [Side, Side]): string {
  const rows = sides.map(({ name, rates }) => {
    const sorted = rates.map(Math.round).sort((a, b) => a - b)
    return `| ${name} | ${Math.round(median(rates))} | ${sorted[0]} to ${sorted.at(-1)} |`
  })
  const machine = `${cpus().length} x ${cpus()[0]?.model.trim()}, Node ${process.version}`
  return `# The tier behind Varnish, and stock Varnish on files

${new Date().toISOString().slice(0, 10)}, ${machine}; both servers and the client (wrk) run on the same cores, and the
load average at the end was ${loadavg()[0]?.toFixed(1)}. \`node bench/cdn.ts\`: ${ADDRESSES.length} addresses of the sample book, gzip, out of warm
caches over ${CONNECTIONS} connections; ${ROUNDS} rounds of ${SECONDS} s each in turns.

| | Answers a second, median | Rounds |
|---|---|---|
${rows.join('\n')}

The tier behind Varnish keeps **${(100 * shareOf(sides)).toFixed(1)} %** of the files' rate, the median of the rounds side by side; the target
is ${100 * BOUND} %.
`
}
