// The changes between two versions, as `highwater diff` prints them, and why they differ: parameters, code or data.
import { cp } from 'node:fs/promises'
import { beforeAll, expect, inject, test } from 'vitest'
import { aModule, catalogue, dailyBars, dailyFunding, moduleText } from '#test/pipeline/night/night-book.ts'
import { lastingFolder, temporaryFolder } from '#test/support/temporary-folder.ts'
import { TINY_VERSION } from '../support/books/publish-book.ts'
import { buildArgs, copyStores, NEXT_VERSION, storeArgs } from '../support/stores/stores.ts'
import { run } from './made-up.ts'
import { BARS, CLOSES, type Files, openBook } from './own-book.ts'

const withFee = (bps: number): string =>
  catalogue([{ ...aModule('oak'), commission_bps_per_side: bps }], {}, '24h')
const oak = (version: string, share: number): string =>
  moduleText('oak', {
    body: `version: '${version}', onBar: (state, bar, position) => position === null ? { act: 'long', stop: bar.c * ${share} } : null,`,
  })
/** A module that takes its share from a file behind another. */
const importing = (version: string): string => `import { share } from './lib/share.ts'
${oak(version, 0.5).replace('0.5 }', 'share }')}`
const withMore = (version: string): string => importing(version).replace('* share', '* share * 1.8')
const shareOf = (share: number): string => `export const share = ${share}`
const BOOK = {
  'catalogue.yaml': withFee(0),
  'bars/BTCUSDT-PERP/1d.csv': BARS,
  'funding/BTCUSDT-PERP.csv': dailyFunding(14),
  'strategies/oak.ts': importing('1'),
  'strategies/lib/share.ts': `export { share } from './deep/numbers.ts'`,
  'strategies/lib/deep/numbers.ts': shareOf(0.5),
  'strategies/lib/unused.ts': shareOf(0.5),
}
const V1 = '2024-01-15T00:15:00Z'
const V2 = '2024-01-15T00:30:00Z'

/** Where the first version is published. */
let published: string
beforeAll(async () => {
  published = await lastingFolder()
  expect(await (await openBook(BOOK, published)).build(['--version', V1])).toMatchObject({ code: 0 })
})

/** The book with changes of which a second version can be built. */
async function changedBook(changes: Files) {
  const folder = await temporaryFolder()
  await cp(published, folder, { recursive: true, preserveTimestamps: true })
  const { build, onStore } = await openBook(changes, folder)
  return {
    undeclared: () => build(['--version', V2]),
    /** What differs when it is built, which has to be declared. */
    async declared() {
      const declaring = ['--restate', 'oak', '--same-rules', 'oak', '--reason', 'a test']
      expect(await build(['--version', V2, ...declaring])).toMatchObject({ code: 0 })
      const { out } = await onStore(['diff', V1, V2])
      return { out, causes: out.split('\n').filter(line => line.includes(' differ')) }
    },
  }
}

test('diff names parameters, data and code that differ, and the first five of many restated days', async () => {
  const { declared } = await changedBook({
    'catalogue.yaml': withFee(10),
    'bars/BTCUSDT-PERP/1d.csv': dailyBars(CLOSES.with(5, 99.5)),
    'strategies/oak.ts': withMore('1'),
  })
  const { out, causes } = await declared()
  expect(causes.toSorted()).toEqual([
    '  code differs: strategies/oak.ts',
    '  data differ: bars/BTCUSDT-PERP/1d.csv',
    '  parameters differ: commission_bps_per_side 0 -> 10',
  ])
  const line = out.split('\n').find(text => text.startsWith('oak: '))
  expect(line?.match(/2024-01-\d\d: \S+ -> \S+/g)).toHaveLength(5)
  expect(line).toMatch(/, \.\.\. \d+ days in all, /)
})

test('diff names the changed file that a module imports through another, and not one that it does not import', async () => {
  const { declared } = await changedBook({
    'strategies/lib/deep/numbers.ts': shareOf(0.9),
    'strategies/lib/unused.ts': shareOf(0.9),
  })
  expect((await declared()).causes).toEqual(['  code differs: strategies/lib/deep/numbers.ts'])
})

test('a raised version of a module is a new history: the build explains the choice and does what the flag says', async () => {
  const { undeclared, declared } = await changedBook({ 'strategies/oak.ts': withMore('2') })
  const refused = await undeclared()
  expect(refused.code).toBe(1)
  expect(refused.err).toContain(
    'oak: module_version: 1 -> 2, which is a new history: keep the old module and publish the new one under another id, or announce the restatement',
  )
  expect(refused.err).toContain('--restate oak --reason TEXT')
  expect((await declared()).causes).toEqual(['  code differs: module_version 1 -> 2, strategies/oak.ts'])
})

test('diff prints what is appended to each strategy, and a value that is gone as none, like the refusal of a build', async () => {
  const inWorld = (args: readonly string[]) => run(args, { now: () => Date.parse(NEXT_VERSION) })
  const stores = await copyStores(inject('tinyStore'))
  const diff = (...versions: readonly string[]) => inWorld(['diff', ...versions, ...storeArgs(stores)])
  const earlier = [...buildArgs(stores, { asOf: '2025-02-20' }), '--restate', 'ash,beech,elm,yew']
  expect(await inWorld([...earlier, '--reason', 'an earlier window'])).toMatchObject({ code: 0 })
  const [title, ...lines] = (await diff(NEXT_VERSION, TINY_VERSION)).out.trim().split('\n')
  expect(title).toBe(`${NEXT_VERSION} -> ${TINY_VERSION}: history is only appended to`)
  expect(lines.length).toBeGreaterThan(1)
  for (const line of lines) {
    expect(line).toMatch(/^[a-z]+: days to 2025-02-22 \(\+2\), (1 new trade|(0|[2-9]|\d\d+) new trades)(,|$)/)
  }
  const { out } = await diff(TINY_VERSION, NEXT_VERSION)
  expect(out).toContain('history is restated')
  expect(out).toMatch(/2025-02-21: -?\d\S* -> none/)
  expect(out).not.toContain('null')
})
