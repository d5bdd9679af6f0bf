// What the documents say is so: links and paths lead somewhere, and each table has what the code has, with its values.
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import type { ZodType } from 'zod'
import { LARGE_LIMITS } from '#api/history/answers/computed-answers.ts'
import { historyDocument, ROUTES } from '#api/history/routes.ts'
import { MOST_OPERATOR_BYTES } from '#api/operator/exchange.ts'
import { LONGEST_URL } from '#api/service/app.ts'
import { MOST_WAITING_TOKENS } from '#api/service/guessing.ts'
import { HTTP_LIMITS } from '#api/service/http-server.ts'
import { MOST_KEYED_BYTES } from '#api/signals/keyed-route.ts'
import { MOST_PROGRAM_BYTES } from '#api/signals/program/simulate.ts'
import { MOST_WEBHOOK_BYTES } from '#api/signals/routes/client.ts'
import { COUNTS, RESENDS } from '#api/signals/routes/deliveries.ts'
import { CHANGES, TESTS } from '#api/signals/routes/endpoints.ts'
import { SIGNALS_ROUTES, signalsDocument } from '#api/signals/routes.ts'
import { SETTINGS } from '#cli/settings/environment.ts'
import { TV_STATUSES, VERIFICATION_STATES } from '#core/contract/payloads/strategy.ts'
import { BLOCK_BYTES } from '#core/dataset/render/text-writer.ts'
import { MOST_ENDPOINTS } from '#signals/outbox/destination.ts'
import { MOST_REGISTRATIONS } from '#signals/outbox/register-webhook.ts'
import { MOST_RESENT } from '#signals/outbox/resend.ts'
import { MOST_NOTICES } from '#signals/redis/keys.ts'
import { MOST_HEADERS } from '#signals/send/headers.ts'
import { MOST_SESSIONS } from '#signals/subscribers/sessions.ts'
import project from '../../package.json' with { type: 'json' }
import { readChanged } from '../pipeline/book/book-folder.ts'
import { BARS } from '../pipeline/book/program-book.ts'

const ROOT = join(import.meta.dirname, '../..')

const DOCUMENTS = [
  'README.md',
  'CHANGELOG.md',
  'examples/receivers/README.md',
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.md'))
    .map(name => `docs/${name}`),
  ...globSync('clients/*/README.md', { cwd: ROOT }),
]

/** The text without code: what a fence or backticks show is no link. */
const proseOf = (path: string): string =>
  readFileSync(path, 'utf8')
    .replaceAll(/^```.*?^```$/gms, '')
    .replaceAll(/`[^`\n]*`/g, '')

/** Links that stay in the checkout: no address, no mail. */
const linksIn = (path: string): string[] =>
  [...proseOf(path).matchAll(/\]\((?![a-z]+:)([^)\s]+)\)/g)].map(([, target = '']) => target)

/** Headings as they are linked to: small letters, hyphens for spaces, no other punctuation. */
const anchorsIn = (path: string): string[] =>
  [...readFileSync(path, 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )

const faultOf = (document: string, target: string): string | null => {
  const [file = '', anchor] = target.split('#')
  const path = file === '' ? document : join(dirname(document), file)
  if (!existsSync(path)) return `${target}: there is no ${relative(ROOT, path)}`
  if (anchor === undefined || anchorsIn(path).includes(anchor)) return null
  return `${target}: ${relative(ROOT, path)} has no heading of this name`
}

test('every relative link of every document leads to a file, and to a heading in it if it names one', () => {
  const faults = DOCUMENTS.flatMap(name => {
    const document = join(ROOT, name)
    return linksIn(document).flatMap(target => {
      const fault = faultOf(document, target)
      return fault === null ? [] : `${name}: ${fault}`
    })
  })
  expect(faults).toEqual([])
  expect(DOCUMENTS.flatMap(name => linksIn(join(ROOT, name))).length).toBeGreaterThan(30)
})

const readPage = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

test('the page of the history service has a row for every endpoint', () => {
  const page = readPage('docs/history-service.md')
  expect(ROUTES.filter(({ path }) => !page.includes(`\`${path}\``))).toEqual([])
})

test('the pages for subscribers have a row for every endpoint of the signals service', () => {
  const pages = readPage('docs/subscribing.md') + readPage('docs/program.md')
  const routes = SIGNALS_ROUTES.filter(({ path }) => path.startsWith('/v1/'))
  expect(routes.map(({ path }) => path).filter(path => !pages.includes(path))).toEqual([])
})

/** A path of the checkout in code type: a file, a folder, or a pattern with braces or a star. */
const NAMED =
  /`((?:core|storage|pipeline|static-build|signals|api|cli|deploy|bench|test|examples|clients)\/[\w./{},*-]*)`/g

test('every path of the checkout that a page names exists', () => {
  // The page of limits names files below api/, and has a test of its own; the changelog names what is gone.
  const pages = DOCUMENTS.filter(page => !['docs/limits.md', 'CHANGELOG.md'].includes(page))
  const isThere = (path: string) => existsSync(join(ROOT, path)) || globSync(path, { cwd: ROOT }).length > 0
  const named = pages.flatMap(page =>
    [...readPage(page).matchAll(NAMED)].map(([, path = '']) => [page, path]),
  )
  expect(named.filter(([, path = '']) => !isThere(path))).toEqual([])
  expect(named.length).toBeGreaterThan(100)
})

test('every library that package.json names has its row, with what it is for, and no other has', () => {
  const page = readPage('docs/decisions/2026-11-21-dependencies.md')
  const rows = [...page.matchAll(/^\| (?!Library)([^|]+) \| ([^|]+) \| [^|]+ \|$/gm)]
  const { dependencies, devDependencies, optionalDependencies } = project
  const named = rows.flatMap(([, names = '']) => names.split(', ').map(name => name.split(' ')[0]))
  expect(named.sort()).toEqual(
    Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies }).sort(),
  )
})

type Term = { readonly word: string; readonly meaning: string; readonly spelled: readonly string[] }

const TERMS: Term[] = [
  ...readPage('docs/glossary.md').matchAll(/^\| (?!Word )([^|]+) \| ([^|]+) \|([^|]*)\|$/gm),
].map(([, word = '', meaning = '', names = '']) => ({
  word,
  meaning,
  spelled: [...names.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name),
}))

/** Every name of the two documents: keys, and texts that stand alone, as names of parameters and values of lists do. */
function namesIn(node: unknown): string[] {
  if (typeof node === 'string') return [node]
  if (typeof node !== 'object' || node === null) return []
  const keys = Array.isArray(node) ? [] : Object.keys(node)
  return [...keys, ...Object.values(node).flatMap(namesIn)]
}

const NAMES = new Set(
  [await historyDocument('https://data.example.org'), signalsDocument('https://signals.example.org')].flatMap(
    namesIn,
  ),
)

test('every name that the glossary spells is one of the interface', () => {
  const spelled = TERMS.flatMap(term => term.spelled)
  expect(spelled.length).toBeGreaterThan(40)
  expect(spelled.filter(name => !NAMES.has(name))).toEqual([])
})

test('the glossary explains every state of verification', () => {
  const spelled = new Set(TERMS.flatMap(term => term.spelled))
  const states = [...VERIFICATION_STATES, ...TV_STATUSES, 'marked', 'realised', 'reported']
  expect(states.filter(state => !spelled.has(state))).toEqual([])
})

test('the glossary explains no word twice, and none by nothing', () => {
  const words = TERMS.map(({ word }) => word)
  expect(words).toEqual([...new Set(words)])
  expect(TERMS.filter(({ meaning }) => meaning.trim().length < 10)).toEqual([])
})

const LIMITS = readPage('docs/limits.md')

const OF_REQUESTS = {
  ...{ ...HTTP_LIMITS, ...LARGE_LIMITS, LONGEST_URL, BLOCK_BYTES },
  ...{ MOST_WEBHOOK_BYTES, MOST_KEYED_BYTES, MOST_PROGRAM_BYTES, MOST_OPERATOR_BYTES, MOST_WAITING_TOKENS },
  ...{ MOST_ENDPOINTS, MOST_HEADERS, MOST_REGISTRATIONS, MOST_RESENT, MOST_SESSIONS, MOST_NOTICES },
  ...{ CHANGES: CHANGES.most, TESTS: TESTS.most, RESENDS: RESENDS.most, COUNTS: COUNTS.most },
}

test('the page of limits has every limit of requests and of a client with the value of the code, and no other', () => {
  const rows = [...LIMITS.matchAll(/^\| [^|]+ \| (\d+)[^|]* \| `(\w+)` \|/gm)]
  const onPage = rows.map(([, value, name]) => [name, Number(value)])
  expect(onPage.sort()).toEqual(Object.entries(OF_REQUESTS).sort())
})

/** The names that bounds have: what is kept, what is done at a time, and how long or large a thing may be. */
const BOUND = /^(?:MOST|LONGEST|LARGEST)_|^(?:CACHE|KEPT|SHORT)_BYTES$/

test('the page of limits has every exported bound of the services, with its file and its value', async () => {
  const rows = [...LIMITS.matchAll(/^\| [^|]+ \| (\d+)[^|]* \| `([\w/.-]+)`: `(\w+)` \|/gm)]
  const onPage = rows.map(([, value, path, name]) => `${path} ${name} ${value}`)
  const paths = globSync('**/*.ts', { cwd: join(ROOT, 'api'), exclude: ['operator/**', '**/*.worker.ts'] })
  const bounds = paths.map(async path => {
    const exported: Record<string, unknown> = await import(pathToFileURL(join(ROOT, 'api', path)).href)
    return Object.entries(exported)
      .filter(([name]) => BOUND.test(name) && !(name in OF_REQUESTS))
      .map(([name, value]) => `${path} ${name} ${value}`)
  })
  expect(onPage.sort()).toEqual((await Promise.all(bounds)).flat().sort())
})

/** A default that depends on other settings or on the machine is in the notes of the page. */
const defaultOf = (schema: ZodType): string => {
  const value = schema.parse(undefined)
  return value === false ? '`no`' : `${value ?? ''}` === '' ? 'not set' : `\`${value}\``
}

test('each line of the page of settings is made from the declaration of a setting, in their order (rewrite it with --update)', async () => {
  const lines = Object.entries(SETTINGS).map(
    ([name, schema]) => `| \`${name}\` | ${defaultOf(schema)} | ${schema.description} |`,
  )
  const page = readPage('docs/settings.md')
  expect(page.match(/^\| `.*$/gm)).toHaveLength(lines.length)
  const made = page.replaceAll(/^\| `.*$/gm, () => lines.shift() ?? '')
  await expect(made).toMatchFileSnapshot(join(ROOT, 'docs/settings.md'))
})

/** The plan of the one YAML text of a page that names an alias. */
async function planIn(page: string, change: (text: string) => string = text => text) {
  const examples = [...readPage(page).matchAll(/```yaml\n(alias: [\s\S]*?)```/g)].map(([, yaml = '']) => yaml)
  expect(examples).toHaveLength(1)
  const files = { 'program.yaml': change(examples[0]!), 'bars/BTCUSDT-SPOT/1d.csv': BARS }
  return (await readChanged(files)).program?.plan
}

test.each(['docs/program.md', 'pipeline/starter/template/README.md'])(
  'the example of program.yaml in %s is sound',
  async page => {
    expect(await planIn(page)).toMatchObject({ alias: 'accumulation', instrument: 'BTCUSDT-SPOT' })
  },
)

test('what the full example of program.yaml gives is what holds without the lines that are not required', async () => {
  const shorten = (text: string) =>
    text
      .replace(/^tiers:.*\n(?: .*\n)*/m, '')
      .replace(/^(?:timeframe|reference_equity_usd|paused):.*\n/gm, '')
  const whole = await planIn('docs/program.md')
  const short = await planIn('docs/program.md', shorten)
  expect(short).toEqual(whole)
})

/** What each forgery of the suite is, as the titles of its tests begin, or the rows of one title. */
const FORGERIES = globSync('test/forgeries/*.test.ts', { cwd: ROOT }).flatMap(path => {
  const text = readPage(path)
  const [, rows = ''] = /test\.each\(\[(.*?)\]\)\('a publisher who %s: /s.exec(text) ?? []
  const found = [...text.matchAll(/'a publisher who (?!%s)(.+?): /g), ...rows.matchAll(/\[\s*'(.+?)',\s/g)]
  return found.map(([, what = '']) => what)
})

test('the page on trust has a row for every forgery of the suite, and no other', () => {
  const [, table = ''] = readPage('docs/trust.md').split('| A publisher who | What shows it |\n|---|---|\n')
  const rows = [...table.split('\n\n')[0]!.matchAll(/^\| ([^|]+) \| [^|]+ \|$/gm)].map(([, what]) => what)
  expect(rows.length).toBeGreaterThan(15)
  expect(rows.toSorted()).toEqual(FORGERIES.toSorted())
})

test('no page and no document calls audited what the publisher checks himself', () => {
  const texts = [
    'README.md',
    ...globSync(['docs/*.md', 'pages/**/*.{ts,md}', 'clients/*/README.md'], { cwd: ROOT }),
  ]
  expect(texts.length).toBeGreaterThan(40)
  expect(texts.filter(path => /\baudited\b/i.test(readPage(path)))).toEqual([])
})

test('the table of starting points leads to files that exist, and it or the architecture names every folder', () => {
  const text = readFileSync(join(ROOT, 'docs/contributing.md'), 'utf8')
  const table = text.slice(text.indexOf('## To change X'), text.indexOf('## Rules'))
  let folder = ''
  for (const [, path = ''] of table.matchAll(/`([\w.-]+(?:\/[\w./-]*|\.ts))`/g)) {
    const found = [path, join(folder, path)].find(each => existsSync(join(ROOT, each)))
    expect(found, path).toBeDefined()
    if (path.includes('/')) folder = path.endsWith('/') ? path : dirname(path)
  }
  const named = readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8') + table
  const files = globSync('{.ci,*}/{*,*/*}', {
    cwd: ROOT,
    exclude: ['node_modules/**', 'test/*/**', 'dist/**'],
  })
  const folders = new Set(files.map(file => dirname(file)))
  const unnamed = [...folders].filter(
    each => !named.includes(`\`${each}/`) && !named.includes(`\`${basename(each)}/\``),
  )
  expect(unnamed).toEqual([])
})
