// The history service as it is composed, in this process: what it prints for the operator, and which address its document has.
import { readFile, writeFile } from 'node:fs/promises'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { expect, inject, test } from 'vitest'
import { z } from 'zod'
import { parseEnvironment } from '#cli/environment.ts'
import { type HistoryService, serveHistory } from '#cli/serve-history.ts'
import { manifestKey } from '#core/contract/artifacts.ts'
import { pointerKey } from '#core/contract/pointer.ts'
import { openStore } from '#storage/open-store.ts'
import { TINY_VERSION } from '../support/books/publish-book.ts'
import { damage } from '../support/stores/store-doubles.ts'
import { buildArgs, copyStores, NEXT_VERSION } from '../support/stores/stores.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { madeUp, run } from './made-up.ts'

const CLOCK = { now: () => Date.parse('2025-02-26T00:00:00Z'), elapsed: () => 0 }

type Run = { readonly service: HistoryService; readonly lines: readonly string[] }

/** Runs the service on these variables and ends it again. */
async function serving(
  env: Readonly<Record<string, string>>,
  look: (run: Run) => Promise<void>,
): Promise<void> {
  const lines: string[] = []
  const environment = parseEnvironment({ HISTORY_PORT: '0', ...env }, '/nowhere')
  const world = { ...madeUp().runtime, ...CLOCK }
  const service = await serveHistory(environment, world, line => lines.push(line))
  try {
    await look({ service, lines })
  } finally {
    await service.stop()
  }
}

const openApi = z.object({ servers: z.tuple([z.object({ url: z.string() })]) })
const { url: STORE_URL, privateUrl: PRIVATE_STORE_URL } = inject('tinyStore')

const addressOn = async (env: Readonly<Record<string, string>>) => {
  let address = ''
  let bound = ''
  await serving({ STORE_URL, PRIVATE_STORE_URL, ...env }, async ({ service }) => {
    const port = new URL(service.url).port
    bound = `:${port}`
    const host = env.HOST === '::1' ? '[::1]' : '127.0.0.1'
    const answer = await fetch(`http://${host}:${port}/openapi.json`)
    address = openApi.parse(await answer.json()).servers[0].url
  })
  return { address, bound }
}

test('the address in /openapi.json is the one that is bound, whichever port the system gave', async () => {
  const { address, bound } = await addressOn({})
  expect(address).toBe(`http://127.0.0.1${bound}`)
  expect(bound).not.toBe(':0')
})

test('the address in /openapi.json is localhost if every address of the machine is bound', async () => {
  const { address, bound } = await addressOn({ HOST: '0.0.0.0' })
  expect(address).toBe(`http://localhost${bound}`)
})

const hasIpv6 = Object.values(networkInterfaces()).some(list =>
  list?.some(({ address }) => address === '::1'),
)

test.skipIf(!hasIpv6)(
  'the address in /openapi.json has brackets if it is one of IPv6 (skipped on a machine without)',
  async () => {
    const { address, bound } = await addressOn({ HOST: '::1' })
    expect(address).toBe(`http://[::1]${bound}`)
  },
)

test('the address in /openapi.json is the one that the operator sets, if any', async () => {
  const { address } = await addressOn({ HOST: '0.0.0.0', PUBLIC_BASE_URL: 'https://data.example.org/' })
  expect(address).toBe('https://data.example.org')
})

const newStore = async () => pathToFileURL(join(await temporaryFolder(), 'store')).href

test('the start of the history service prints which version is served', async () => {
  const { url, privateUrl } = inject('tinyStore')
  await serving({ STORE_URL: url, PRIVATE_STORE_URL: privateUrl }, async ({ lines }) => {
    expect(lines).toEqual([expect.stringMatching(/^serving 2\S+Z$/)])
  })
})

test('the start of the history service prints that nothing is published, in which store, and how to publish', async () => {
  const STORE_URL = await newStore()
  await serving({ STORE_URL }, async ({ lines }) => {
    expect(lines).toEqual([
      `nothing is published in ${STORE_URL}; publish with \`highwater build --store ${STORE_URL}\`; ` +
        'it will be served as soon as it is there',
    ])
  })
})

test('the start of the history service prints that the newest version is damaged, and which one is served in its place', async () => {
  const { url, privateUrl } = await copyStores(inject('tinyStore'))
  expect(await run(buildArgs({ url, privateUrl }), { now: CLOCK.now })).toMatchObject({ code: 0 })
  const manifest = join(fileURLToPath(url), manifestKey(NEXT_VERSION))
  await writeFile(manifest, damage(await readFile(manifest)))
  await serving({ STORE_URL: url, PRIVATE_STORE_URL: privateUrl }, async ({ service, lines }) => {
    expect(lines).toEqual([
      `serving ${TINY_VERSION}, which was published before: the version ${NEXT_VERSION} cannot be served: ` +
        'its manifest is not the one that was published',
    ])
    const readyz = await fetch(`${service.url}/readyz`)
    expect(await readyz.json()).toMatchObject({ data: { ready: true, unfit_version: NEXT_VERSION } })
  })
})

test('the start of the history service prints that the first version cannot be served, and names none before it', async () => {
  const STORE_URL = await newStore()
  const store = await openStore(STORE_URL)
  await store.create(pointerKey(1), new TextEncoder().encode('[]'), { content_type: 'application/json' })
  await serving({ STORE_URL }, async ({ lines }) => {
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatch(
      /^nothing is served yet: file:.*v1\/pointer\/0000000001\.json is not a pointer entry: /,
    )
    expect(lines[0]).not.toContain('\n')
  })
})
