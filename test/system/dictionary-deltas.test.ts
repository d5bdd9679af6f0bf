// Two nights, one client that kept the first, and a decoder that is not ours; then the same behind the CDN.
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Layer } from '../../deploy/layers.ts'
import type { Stores } from '../support/books/publish-book.ts'
import { highwater } from '../support/history/highwater-process.ts'
import { type ServingProcess, startServing } from '../support/history/history-process.ts'
import { zstdFolder } from '../support/http/zstd.ts'
import { addressOf, ask, type Got, objectOf, startCdn } from '../support/servers/cdn.ts'
import { buildArgs, lastingFolder, newStores } from '../support/stores/stores.ts'

const run = promisify(execFile)

const FIRST = { version: '2025-02-23T00:15:00Z', asOf: '2025-02-21' }
const SECOND = { version: '2025-02-24T00:15:00Z', asOf: '2025-02-22' }

const ADDRESSES = [
  '/v1/export',
  '/v1/export?format=csv',
  '/v1/strategies/ash/returns',
  '/v1/strategies/ash/returns?format=csv',
  '/v1/strategies/ash/curve',
  '/v1/strategies/ash/curve?format=csv&period=daily',
]
const CSV = '/v1/export?format=csv'

let stores: Stores
let service: ServingProcess
let programs: string
let folder: string
const yesterday = new Map<string, Buffer>()

const EXAMPLE = join(import.meta.dirname, '../../docs/dictionary-deltas.md')

/** Runs a step of the example in the docs, as it is written there. */
async function runExample(step: number): Promise<string> {
  const [, script] = [...(await readFile(EXAMPLE, 'utf8')).matchAll(/^```sh\n(.*?)^```$/gms)][step] ?? []
  const env = { PATH: `${programs}:${process.env.PATH}`, BASE: service.url }
  const { stdout } = await run('bash', ['-euc', script ?? 'exit 1'], { cwd: folder, env })
  return stdout
}

beforeAll(async () => {
  stores = await newStores()
  programs = await zstdFolder()
  folder = await lastingFolder()
  expect(await highwater(buildArgs(stores, FIRST))).toMatchObject({ code: 0 })
  service = await startServing(stores)
  for (const address of ADDRESSES) yesterday.set(address, (await ask(service.url + address)).bytes)
  await runExample(0)
  expect(await highwater(buildArgs(stores, SECOND))).toMatchObject({ code: 0 })
  await service.prints(new RegExp(`swapped ${FIRST.version} for ${SECOND.version}`))
})

const digestOf = (bytes: Uint8Array): string =>
  `:${createHash('sha256').update(bytes).digest().toString('base64')}:`

const holding = (bytes: Uint8Array): Record<string, string> => ({
  'accept-encoding': 'gzip, deflate, br, zstd, dcb, dcz',
  'available-dictionary': digestOf(bytes),
})

/** What the command makes of a delta to an older body. */
async function decode(delta: Uint8Array, dictionary: Uint8Array): Promise<Buffer> {
  const [from, old, to] = ['delta.dcz', 'old', 'new'].map(name => join(folder, name)) as [
    string,
    string,
    string,
  ]
  await writeFile(from, delta)
  await writeFile(old, dictionary)
  await run(join(programs, 'zstd'), ['-q', '-f', '-d', '-D', old, from, '-o', to])
  return readFile(to)
}

describe('a client that kept the body of yesterday', () => {
  test.each(ADDRESSES)(
    'gets today as the difference, and any Zstandard decoder reads it: %s',
    async address => {
      const old = yesterday.get(address)!
      const delta = await ask(service.url + address, holding(old))
      const today = await ask(service.url + address)
      expect([delta.status, delta.headers['content-encoding']]).toEqual([200, 'dcz'])
      expect(today.bytes.equals(old)).toBe(false)
      expect((await decode(delta.bytes, old)).equals(today.bytes)).toBe(true)
      expect(delta.headers['unencoded-digest']).toBe(`sha-256=${digestOf(today.bytes)}`)
      const br = await ask(service.url + address, { 'accept-encoding': 'br' })
      expect(delta.bytes.length).toBeLessThan(br.bytes.length / 2)
    },
  )

  test('gets it as the docs say, with curl and zstd', async () => {
    expect(await runExample(1)).toMatch(/^dcz \d+\n$/)
    const today = await ask(service.url + CSV)
    expect((await readFile(join(folder, 'today.csv'))).equals(today.bytes)).toBe(true)
  })

  test('gets an older version from a newer body too, as after a rollback', async () => {
    const tomorrow = await ask(service.url + CSV)
    const first = `/v1/snapshots/20250223T001500Z/export?format=csv`
    const delta = await ask(service.url + first, holding(tomorrow.bytes))
    expect(delta.headers['content-encoding']).toBe('dcz')
    expect((await decode(delta.bytes, tomorrow.bytes)).equals(yesterday.get(CSV)!)).toBe(true)
  })
})

describe('behind the CDN', () => {
  let edge: Layer
  let files: Layer
  const PINNED = '/v1/snapshots/20250224T001500Z/export?format=csv'

  beforeAll(async () => {
    ;({ edge, files } = await startCdn(addressOf(service.url), stores.url))
  })

  const sayings = ({ status, headers }: Got) => ({
    status,
    coding: headers['content-encoding'],
    vary: headers.vary,
    dictionary: headers['use-as-dictionary'],
  })
  const ORDINARY = { status: 200, coding: 'br', vary: 'Accept-Encoding, Origin', dictionary: undefined }

  test.each([CSV, PINNED])(
    'clients with and without a dictionary share one object, which is no delta: %s',
    async address => {
      const asking = holding(yesterday.get(CSV)!)
      const first = await ask(edge.url + address, asking)
      const others = [
        await ask(edge.url + address, { 'accept-encoding': 'br' }),
        await ask(edge.url + address, {
          ...asking,
          'available-dictionary': digestOf(Buffer.from('another')),
        }),
      ]
      for (const got of [first, ...others]) {
        expect(sayings(got)).toEqual(ORDINARY)
        expect(got.bytes.equals(first.bytes)).toBe(true)
        expect(objectOf(got)).toBe(objectOf(first))
      }
    },
  )

  test('nginx alone passes the wish on to the tier, and answers pinned files as they are', async () => {
    const asking = holding(yesterday.get(CSV)!)
    const unpinned = await ask(files.url + CSV, asking)
    expect(sayings(unpinned)).toMatchObject({
      coding: 'dcz',
      vary: 'Accept-Encoding, Available-Dictionary, Origin',
    })
    expect(sayings(await ask(files.url + PINNED, asking))).toEqual(ORDINARY)
  })
})
