// What holds of both clients: their faults, from the tables that the tests of the Python client read too, and their version.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { newSigner } from '#test/static-build/signed-store.ts'
import * as client from '../../../clients/typescript/src/index.ts'
import { withSignedService } from '../../support/history/signed-service.ts'
import { rejection, watchedService } from './watched-service.ts'

const { Highwater, HighwaterSignals } = client
const ROOT = join(import.meta.dirname, '../../..')
const textOf = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

/** What is called with what, the answers by the end of their path, and the error. */
type Fault = Readonly<Record<'fault' | 'call' | 'with' | 'code' | 'says', string>> & {
  readonly answers?: Readonly<Record<string, [status: number, Record<string, string>, body: unknown]>>
}
const FAULTS = textOf('test/clients/faults.jsonl').trimEnd().split('\n')

test.each(FAULTS.map(line => JSON.parse(line) as Fault))(
  'both clients have the code $code and the same reason for $fault',
  async ({ call, with: given, code, says, answers = {} }) => {
    const scripted = async (address: string, init: RequestInit) => {
      const [, answer] = Object.entries(answers).find(([end]) => address.endsWith(end)) ?? []
      if (answer === undefined) return fetch(address, init)
      const [status, headers, body] = answer
      return new Response(typeof body === 'string' ? body : JSON.stringify(body), { status, headers })
    }
    const [{ url }, options] = [await watchedService(), { fetch: scripted, attempts: 1 }]
    const opened = () => Highwater.open(url, options)
    const calls: Readonly<Record<string, () => Promise<unknown>>> = {
      nowhere: () => Highwater.open('http://127.0.0.1:2'),
      open: opened,
      version: () => Highwater.open(url, { version: given }),
      day: () => Highwater.open(url, { asOf: given }),
      stats: async () => (await opened()).strategy(given).stats(),
      returns: async () => (await opened()).export({ ids: given }),
      correlation: async () => (await opened()).correlation({ ids: given }),
      hourly: async () => (await opened()).export({ period: 'hourly' as 'daily' }),
      verify: async () => (await opened()).verify(),
      head: () => new HighwaterSignals(url, { key: 'key', ...options }).head(),
    }
    const error = await rejection(calls[call]!())
    expect(error).toMatchObject({ name: 'HighwaterError', code, message: expect.stringMatching(says) })
  },
)

test('the READMEs of both clients list the same codes, which are those that no service has, and both have the version of the product', () => {
  const [python, own] = ['python', 'typescript'].map(name =>
    textOf(`clients/${name}/README.md`).match(/^\| `\w+` \|.*$/gm),
  )
  expect(python).toEqual(own)
  const declared = textOf('clients/typescript/src/highwater-error.ts').match(/(?<=^ {2}\| ')\w+/gm)
  expect(own?.map(row => row.split('`')[1]).toSorted()).toEqual(declared?.toSorted())
  const [product, packed] = ['', 'clients/typescript/'].map(
    at => JSON.parse(textOf(`${at}package.json`)).version,
  )
  const ofPython = /^__version__ = "(.*)"/m.exec(textOf('clients/python/highwater_client/__init__.py'))?.[1]
  expect([packed, client.version, ofPython]).toEqual([product, product, product])
})

const signer = newSigner()
const signed = withSignedService(signer, Date.now)

test('the TypeScript client verifies what was published, with the published key and with a pinned one, and names what was altered and what is missing', async () => {
  const { proxy, headDigest } = signed()
  const book = await Highwater.open(proxy.url)
  const log = expect.stringMatching(
    `^log: 2 entries without a gap, the newest of .* with the digest ${headDigest}$`,
  )
  const files = expect.stringMatching(`^files: \\d\\d files of version ${book.version} as published$`)
  for (const options of [{}, { key: signer.publicKeyPem }])
    expect(await book.verify(options)).toEqual([
      log,
      'signatures: of the newest entry and of the manifest',
      files,
    ])
  const refused = (fault: string) => ({ code: 'not_verified', message: expect.stringMatching(fault) })
  const byOther = book.verify({ key: newSigner().publicKeyPem })
  expect(await rejection(byOther)).toMatchObject(refused('no signature of a trusted key'))
  const root = `/v1/snapshots/${book.version.replaceAll(/[-:]/g, '')}`
  const tampered = JSON.parse(textOf('test/clients/tampered.json')) as Record<string, Record<string, string>>
  for (const kind of ['altered', 'missing'] as const)
    for (const [path, fault] of Object.entries(tampered[kind]!)) {
      proxy.tamper(at => (at === path.replace('{root}', root) ? kind : null))
      expect(await rejection(book.verify())).toMatchObject(refused(fault))
    }
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
  const details = [expect.stringMatching('/summary is altered in the cache: open the book again$')]
  expect(await rejection(book.verify())).toMatchObject({ details })
  for (const [days, fault] of [
    [30, 'expired at'],
    [-30, 'later than it is'],
  ] as const) {
    const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + days * 86_400_000)
    expect(await rejection(book.verify())).toMatchObject({ message: expect.stringContaining(fault) })
    clock.mockRestore()
  }
})
