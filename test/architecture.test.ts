// The rules of the code, checked by a program: the direction of imports, where clock and environment are read, what no file
// may contain, and the titles of tests. Each rule is also run on a snippet that breaks it.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  brokenRules,
  forbiddenImports,
  ownWays,
  type Source,
  specifiersOf,
  unclearTitles,
  undocumented,
} from './support/rules.ts'

const ROOT = join(import.meta.dirname, '..')
const ROOMS = '{core,storage,pipeline,pages,static-build,signals,fleet,api,cli}'

const readSource = (path: string): Source => ({ path, text: readFileSync(join(ROOT, path), 'utf8') })

/** Every file of the product; what is copied into a new book is the user's, and teaches by another style. */
const SOURCES = globSync(`${ROOMS}/**/*.{ts,mjs}`, { cwd: ROOT, exclude: ['**/template/**'] })
  .sort()
  .map(readSource)

const TESTS = globSync('test/**/*.ts', {
  cwd: ROOT,
  exclude: ['test/{golden,fixtures}/**', 'test/architecture.test.ts'],
})
  .sort()
  .map(readSource)

test('the rules of the code see every room of the product', () => {
  expect(SOURCES.length).toBeGreaterThan(150)
  expect(new Set(SOURCES.map(({ path }) => path.split('/')[0]))).toEqual(
    new Set(['core', 'storage', 'pipeline', 'pages', 'static-build', 'signals', 'fleet', 'api', 'cli']),
  )
})

test('the product imports in one direction, between rooms and inside the core', () => {
  expect(SOURCES.flatMap(forbiddenImports)).toEqual([])
})

test('the product reads clock, random numbers and environment in entry files only, uses the console in the command line only, and keeps files short', () => {
  expect(SOURCES.flatMap(brokenRules)).toEqual([])
})

test('every exported function of the figures has a docstring', () => {
  const figures = SOURCES.filter(({ path }) => path.startsWith('core/figures/'))
  expect(figures.length).toBeGreaterThan(15)
  expect(figures.flatMap(undocumented)).toEqual([])
})

test('the title of every test says what holds of what, and needs no other title to be understood', () => {
  expect(TESTS.length).toBeGreaterThan(300)
  expect(TESTS.flatMap(unclearTitles)).toEqual([])
})

test('no test makes folders, ends what it starts, or draws random values in a way of its own', () => {
  expect(TESTS.flatMap(ownWays)).toEqual([])
})

test('the client for TypeScript imports nothing but itself, so that it runs wherever `fetch` is', () => {
  const sources = globSync('clients/typescript/src/**/*.ts', { cwd: ROOT }).map(readSource)
  const specifiers = sources.flatMap(({ text }) => specifiersOf(text))
  expect(specifiers.length).toBeGreaterThan(5)
  expect(specifiers.filter(specifier => !specifier.startsWith('./'))).toEqual([])
})

test.each([
  ['core/kernels/x.ts', "import { a } from '#core/figures/a.ts'"],
  ['core/replay/x.ts', "import type { Route } from '#core/contract/route.ts'"],
  ['core/contract/x.ts', "import {\n  a,\n  b,\n} from '#core/dataset/a.ts'"],
  ['core/figures/x.ts', "import { a } from '#core/figures/a.ts'"],
  ['core/figures/x.ts', "import { a } from '../kernels/a.ts'"],
  ['core/figures/x.ts', "import { a } from '#storage/a.ts'"],
  ['core/figures/x.ts', "const load = () => import('node:fs')"],
  ['core/figures/x.ts', "import 'arquero'"],
  ['storage/x.ts', "import { a } from '#api/a.ts'"],
  ['api/x.ts', "import { a } from '#pipeline/a.ts'"],
  ['api/history/x.ts', "import { a } from '#api/a.ts'"],
  ['api/x.ts', "import { a } from '#cli/a.ts'"],
  ['cli/x.ts', "import { a } from '#test/support/a.ts'"],
])('the rules refuse in %s the import: %s', (path, text) => {
  expect(forbiddenImports({ path, text })).toHaveLength(1)
})

test.each([
  ['core/figures/x.ts', "import { a } from '#core/kernels/a.ts'"],
  ['core/contract/payloads/x.ts', "import { a } from '../a.ts'"],
  ['api/x.ts', "import { createServer } from 'node:http'"],
  ['cli/commands/x.ts', "import about from '../../package.json' with { type: 'json' }"],
  ['core/figures/x.ts', "throw new Error(`not from '#api/a.ts'`)"],
])('the rules allow in %s the import: %s', (path, text) => {
  expect(forbiddenImports({ path, text })).toEqual([])
})

test.each([
  ['api/x.ts', 'const now = Date.now()'],
  ['pipeline/x.ts', 'const now = process.hrtime.bigint()'],
  ['pipeline/x.ts', 'const number = Math.random()'],
  ['storage/x.ts', 'const id = crypto.randomUUID()'],
  ['storage/x.ts', "import { randomBytes } from 'node:crypto'"],
  ['storage/x.ts', 'const url = process.env.STORE_URL'],
  ['cli/program.ts', 'const { env } = process'],
  ['core/x.ts', 'setTimeout(run, 5)'],
  ['core/x.ts', 'globalThis.seen = true'],
  ['api/x.ts', "console.log('here')"],
  ['api/x.ts', "export * from './a.ts'"],
  ['api/x.ts', "export { a } from './a.ts'"],
])('the rules refuse in %s the line: %s', (path, line) => {
  expect(brokenRules({ path, text: `const a = 1\n${line}\n` })[0]).toContain(`${path}:2: `)
})

test('a comment, a date that is given and an entry file break no rule', () => {
  const fine = [
    '// Date.now() would be the clock',
    '/**\n * process.env is read elsewhere\n */',
    'const day = new Date(ms) // not Math.random()',
    "const about = 'https://example.org/any'",
  ]
  expect(brokenRules({ path: 'core/x.ts', text: fine.join('\n') })).toEqual([])
  expect(
    brokenRules({ path: 'cli/highwater.ts', text: 'const env = process.env\nconst now = Date.now()\n' }),
  ).toEqual([])
})

test('the rules refuse a file of more than 400 lines', () => {
  expect(brokenRules({ path: 'api/x.ts', text: 'a\n'.repeat(400) })).toEqual([])
  expect(brokenRules({ path: 'api/x.ts', text: 'a\n'.repeat(401) })).toHaveLength(1)
})

test('the rules refuse an exported function of the figures without a docstring', () => {
  const text =
    '/** Half. */\nexport const half = (x) => x / 2\n\n// Twice.\nexport function twice(x) {}\n\nexport const YEAR = 365'
  expect(undocumented({ path: 'core/figures/x.ts', text })).toEqual(['twice'])
})

test.each([
  "test('unless everything holds', () => {})",
  "test('three words only', () => {})",
  "test.each([1, 2])('%s and %s is %s too', n => {})",
  'test.skipIf(x)(\n  `$name of a book`,\n  () => {},\n)',
  "  test.each([\n    ['a', () => {}],\n  ] as const)('also with %s in it', n => {})",
])('the rules refuse a title that is no sentence of its own: %s', text => {
  expect(unclearTitles({ path: 'test/x.test.ts', text: `describe('x', () => {\n${text}\n})` })).toHaveLength(
    1,
  )
})

test('the rules allow the title of a group, and a title that holds a quote or stands behind rows', () => {
  const text = [
    "describe.each([\n  1,\n])('%s', () => {",
    '  test(`the tier\'s "answer" is 304 at $path`, () => {',
    "    expect(of(1)('a', 'b'))",
    "  test.each([\n    [1],\n  ])('a revoked key is answered with %i', n => {",
  ]
  expect(unclearTitles({ path: 'test/x.test.ts', text: text.join('\n') })).toEqual([])
})

test.each([
  "const folder = await mkdtemp(join(tmpdir(), 'x-'))",
  "const child = spawn('sh', [])",
  'onTestFinished(() => server.close())',
  'fc.assert(fc.property(fc.integer(), n => {}))',
])('the rules refuse in a test: %s', line => {
  expect(ownWays({ path: 'test/x.test.ts', text: `${line}\n` })).toEqual([`test/x.test.ts:1: ${line}`])
})
