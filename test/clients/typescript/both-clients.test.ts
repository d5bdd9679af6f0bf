// What holds of both clients: their faults, from the tables that the tests of the Python client read too, and their version.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { newSigner } from '#test/static-build/signed-store.ts'
import {
  type ClientOptions,
  Highwater,
  HighwaterError,
  HighwaterSignals,
  version,
} from '../../../clients/typescript/src/index.ts'
import { withSignedService } from '../../support/history/signed-service.ts'
import { rejection, watchedService } from './watched-service.ts'

const CLIENTS = join(import.meta.dirname, '../../../clients')
const readText = (path: string): string => readFileSync(join(CLIENTS, path), 'utf8')
const readTable = <Table>(name: string) => JSON.parse(readText(`../test/clients/${name}.json`)) as Table

type Fault = Readonly<Record<'fault' | 'call' | 'code' | 'says', string>> & {
  readonly with: string
  /** Status, headers and body by the end of the path; the service answers everything else. */
  readonly answers?: Readonly<Record<string, readonly [number, Record<string, string>, unknown]>>
}

type Call = (base: string, given: string, options: ClientOptions) => Promise<unknown>

const onBook =
  (call: (book: Highwater, given: string) => Promise<unknown>): Call =>
  async (base, given, options) =>
    call(await Highwater.open(base, options), given)

const CALLS: Readonly<Record<string, Call>> = {
  nowhere: () => Highwater.open('http://127.0.0.1:2'),
  open: (base, _, options) => Highwater.open(base, options),
  version: (base, given) => Highwater.open(base, { version: given }),
  day: (base, asOf) => Highwater.open(base, { asOf }),
  stats: onBook((book, id) => book.strategy(id).stats()),
  returns: onBook((book, ids) => book.export({ ids })),
  correlation: onBook((book, ids) => book.correlation({ ids })),
  hourly: onBook(book => book.strategy('alder').returns({ period: 'hourly' as 'daily' })),
  verify: onBook(book => book.verify()),
  head: (base, _, options) => new HighwaterSignals(base, { key: 'key', ...options }).head(),
}

const FAULTS = readTable<Fault[]>('faults')

test.each(FAULTS)('both clients have the code $code and the same reason for $fault', async each => {
  const answered = Object.entries(each.answers ?? {})
  const scripted = async (url: string, init: RequestInit) => {
    const [, answer] = answered.find(([end]) => url.endsWith(end)) ?? []
    if (answer === undefined) return fetch(url, init)
    const [status, headers, body] = answer
    return new Response(typeof body === 'string' ? body : JSON.stringify(body), { status, headers })
  }
  const { url } = await watchedService()
  const error = await rejection(CALLS[each.call]!(url, each.with, { fetch: scripted, attempts: 1 }))
  expect(error).toBeInstanceOf(HighwaterError)
  expect(error).toMatchObject({ code: each.code, message: expect.stringMatching(each.says) })
})

test('the READMEs of both clients list the same codes, which are those that no service has', () => {
  const tables = ['python', 'typescript'].map(client =>
    readText(`${client}/README.md`).match(/^\| `\w+` \|.*$/gm),
  )
  expect(tables[0]).toEqual(tables[1])
  const declared = readText('typescript/src/highwater-error.ts').match(/(?<=^ {2}\| ')\w+/gm)
  expect(tables[0]?.map(row => row.split('`')[1]).toSorted()).toEqual(declared?.toSorted())
})

test('the version of both clients is that of the product', () => {
  const product = JSON.parse(readText('../package.json')).version
  const lock = JSON.parse(readText('../package-lock.json')).packages['clients/typescript']
  const packed = JSON.parse(readText('typescript/package.json'))
  const python = /^__version__ = "(.*)"/m.exec(readText('python/highwater_client/__init__.py'))?.[1]
  expect([lock.version, packed.version, version, python]).toEqual(new Array(4).fill(product))
})

const signer = newSigner()
const signed = withSignedService(signer, Date.now)

test('the TypeScript client verifies what was published, with the published key and with a pinned one, and names what was altered and what is missing', async () => {
  const { proxy, headDigest } = signed()
  const book = await Highwater.open(proxy.url)
  const sound = [
    expect.stringMatching(`^log: 2 entries without a gap, the newest of .* with the digest ${headDigest}$`),
    'signatures: of the newest entry and of the manifest',
    expect.stringMatching(`^files: \\d\\d files of version ${book.version} as published$`),
  ]
  expect(await book.verify()).toEqual(sound)
  expect(await book.verify({ key: signer.publicKeyPem })).toEqual(sound)
  const faultsOf = async (options = {}) => {
    const error = await rejection(book.verify(options))
    expect(error).toMatchObject({ code: 'not_verified' })
    return (error as HighwaterError).details as string[]
  }
  expect(await faultsOf({ key: newSigner().publicKeyPem })).toEqual([
    expect.stringMatching('no signature of a trusted key'),
  ])
  const root = `/v1/snapshots/${book.version.replaceAll(/[-:]/g, '')}`
  const tables = readTable<Record<'altered' | 'missing', Record<string, string>>>('tampered')
  for (const kind of ['altered', 'missing'] as const)
    for (const [path, fault] of Object.entries(tables[kind])) {
      proxy.tamper(at => (at === path.replace('{root}', root) ? kind : null))
      expect((await faultsOf()).join('; ')).toMatch(new RegExp(fault))
    }
  proxy.tamper(at => (at.startsWith(`${root}/strategies/`) ? 'altered' : null))
  expect((await faultsOf()).length).toBeGreaterThan(5)
  proxy.tamper(at => (at.startsWith('/.well-known/') ? 'missing' : null))
  expect((await book.verify({ allowUnsigned: true }))[1]).toBe('signatures: nothing is signed')
})

test('the TypeScript client refuses a log that is expired or of the future, and finds the answer that it kept in place of another', async () => {
  const headers = { etag: '"of another"', 'cache-control': 'immutable' }
  let other: Response | null = Response.json({ data: 'of another service' }, { headers })
  const exchanging = async (url: string, init: RequestInit) =>
    (url.endsWith('/summary') && other) || fetch(url, init)
  const book = await Highwater.open(signed().proxy.url, { fetch: exchanging })
  await book.summary()
  other = null
  expect(await rejection(book.verify())).toMatchObject({
    details: [expect.stringMatching('/summary is altered in the cache: open the book again$')],
  })
  for (const [days, fault] of [
    [30, 'expired at'],
    [-30, 'later than it is'],
  ] as const) {
    const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + days * 86_400_000)
    expect(await rejection(book.verify())).toMatchObject({ message: expect.stringContaining(fault) })
    clock.mockRestore()
  }
})
