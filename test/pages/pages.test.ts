// Pages of books that nobody would make by intention: each stays whole, escaped and short.
// Where a text of strategies.txt is meant to change, rewrite it: vitest run test/pages/pages --update=all

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'
import fc from 'fast-check'
import { build } from 'rolldown'
import { expect, test } from 'vitest'
import type { Ancestor } from '#core/dataset/lineage.ts'
import type { Snapshot } from '#core/dataset/snapshot.ts'
import { ASSETS } from '#pages/assets.ts'
import { bookModel } from '#pages/book-charts.ts'
import { anySnapshot } from '#test/support/books/arbitrary-snapshot.ts'
import { handSnapshot } from '#test/support/books/hand-snapshot.ts'
import { oddBook } from '#test/support/books/odd-book.ts'
import { htmlElements, pagesOf } from '#test/support/browser/rendered-pages.ts'
import configs, { PAGE_SCRIPTS } from '../../rolldown.config.ts'
import { forAll } from '../support/for-all.ts'

/** Names of elements that the page refers to by an attribute. */
const REFERENCES = ['popovertarget', 'for', 'aria-labelledby', 'aria-describedby', 'data-filter']

const ELEMENTS = new Set(
  `html head body aside meta title link script a header nav p strong main footer code section h1 h2 div dl dt dd ul ol li span label
  input select option button output form table caption thead tbody tr th td data details summary article cite br wbr pre time
  svg path rect text tspan g desc`.split(/\s+/),
)

/** The elements of a page that is whole: throws, or fails, if it is not. */
function expectWhole(file: string, page: string): ReturnType<typeof htmlElements> {
  const elements = htmlElements(page)
  const valuesOf = (name: string) => elements.flatMap(({ attributes }) => attributes[name] ?? [])
  const ids = valuesOf('id')
  expect(new Set(ids).size, `${file}: ids`).toBe(ids.length)
  const missing = REFERENCES.flatMap(valuesOf)
    .flatMap(value => value.split(' '))
    .filter(id => !ids.includes(id))
  expect(missing, `${file}: references`).toEqual([])
  const unknown = elements.filter(({ name }) => !ELEMENTS.has(name)).map(({ name }) => name)
  expect(unknown, `${file}: elements`).toEqual([])
  const handlers = elements.flatMap(({ attributes }) =>
    Object.keys(attributes).filter(key => /^on|^style$/.test(key)),
  )
  expect(handlers, `${file}: attributes`).toEqual([])
  const shown = elements.filter(({ name }) => name !== 'script').flatMap(({ text }) => text)
  expect(shown.join('\n'), file).not.toMatch(/\b(?:NaN|undefined|Infinity|\[object)/)
  return elements
}

const jsonOf = (elements: ReturnType<typeof htmlElements>): unknown[] =>
  elements
    .filter(({ name, attributes }) => name === 'script' && !('src' in attributes))
    .map(({ text }) => JSON.parse(text))

const aText = fc.oneof(
  fc.constantFrom(
    '<script>alert(1)</script>',
    `"'><img src=x onerror=alert(1)>`,
    '</script><!--',
    '{{name}} &amp; &lt;',
    'تحوط البيتكوين',
    '\u202Eesrever',
    '👩‍👩‍👧‍👦🚀',
    'W'.repeat(200),
    '',
  ),
  fc.string({ unit: 'binary', maxLength: 30 }),
)

/** A version whose declarations have this reason, which the page of versions and the sheets show. */
const withReasons = (reason: string): Ancestor => ({
  ...{ version: '2024-05-01T00:15:00Z', entered: null, previous: null, added: [], removed: ['yew'] },
  ...{ definitions: [], not_compared: [], changed: [] },
  restated: [{ id: 's0', daily: 1, weekly: 0, trades: 0, base_risk: false, module_version: false }],
  declared: (['restate', 'same_rules'] as const).map(what => ({ what, of: 's0', reason })),
})

const aBook: fc.Arbitrary<Snapshot> = fc
  .tuple(anySnapshot, fc.array(aText, { minLength: 4, maxLength: 4 }), aText, fc.boolean())
  .map(([snapshot, names, text, synthetic]) => ({
    ...snapshot,
    dataset: {
      ...{ ...snapshot.dataset, name: text, disclaimer: text, synthetic },
      lineage: [withReasons(text)],
      removed: [{ id: 'yew', name: text, on: '2024-05-01', reason: text, published_since: null, days: 9 }],
    },
    strategies: snapshot.strategies.map((strategy, i) => ({
      ...strategy,
      name: names[i]!,
      blurb: names[3 - i]!,
      engine: text,
      data_source: text,
    })),
  }))

test('every page of any book is well-formed, has what it refers to, and shows names as text and no number that does not exist', () => {
  forAll(30, aBook, snapshot => {
    for (const [file, render] of pagesOf(snapshot)) {
      const elements = expectWhole(file, render())
      expect(jsonOf(elements)[0], file).toMatchObject({
        '@type': 'Dataset',
        version: snapshot.dataset.version,
        license: { '@type': 'CreativeWork', text: snapshot.dataset.disclaimer },
      })
    }
  })
})

test('every page of a book says that its data are synthetic, in words and in every picture, only if they are', () => {
  const of = (synthetic: boolean) => {
    const trade = { entry_time: 1.7e12, exit_time: 1.7001e12, account_return: 0.02 }
    const strategy = { returns: Array.from({ length: 500 }, (_, i) => Math.sin(i) / 50), trades: [trade] }
    return handSnapshot(
      [
        { id: 'a', ...strategy },
        { id: 'b', ...strategy },
      ],
      { synthetic },
    )
  }
  for (const [file, render] of pagesOf(of(true))) {
    const page = render()
    const pictures = page.match(/<svg class="chart .*?<\/svg>/gs) ?? []
    expect(pictures.length, file).toBe({ 'index.html': 2 }[file] ?? (file.endsWith('sheet.html') ? 3 : 0))
    for (const picture of pictures) expect(picture, file).toContain('>synthetic data</text>')
    expect(page, file).toContain('<strong>Synthetic data.</strong>')
  }
  for (const [file, render] of pagesOf(of(false))) expect(render(), file).not.toMatch(/synthetic/i)
})

test('a book of one strategy with one day has whole pages, and the pages of a book without a day say so', () => {
  for (const [file, render] of pagesOf(handSnapshot([{ id: 'one', returns: [0.01] }])))
    expectWhole(file, render())
  const { dataset, strategies, ...others } = handSnapshot([{ id: 'none', returns: [] }])
  const window = { from: null, to: null }
  const empty = {
    ...others,
    dataset: { ...dataset, window },
    strategies: strategies.map(each => ({ ...each, window })),
  }
  for (const [file, render] of pagesOf(empty)) {
    const page = render().replaceAll(/ integrity="[^"]*"/g, '') // a digest may hold any letters
    expect(page, file).not.toMatch(/null to|NaN/)
    if (/index|sheet/.test(file)) expect(page, file).toContain('no day yet')
  }
})

test('the lines of every instrument differ in the chart of the book', () => {
  const snapshot = handSnapshot([{ id: 'one', returns: [0.01, 0.02, -0.01] }])
  const instruments = Array.from({ length: 5 }, (_, i) => `COIN${i}`)
  const benchmarks = instruments.map(instrument => ({ instrument, daily: snapshot.strategies[0]!.daily }))
  const page = Object.fromEntries(pagesOf({ ...snapshot, benchmarks }))['index.html']!()
  const kinds = instruments.map(
    instrument => new RegExp(`<path class="line ([^"]*)"[^>]*/></svg>Holding ${instrument}<`).exec(page)?.[1],
  )
  expect(kinds).not.toContain(undefined)
  expect(new Set([...kinds, 'main']).size).toBe(instruments.length + 1)
})

test('every line of the book is 1 before the first day of a range, and a range after its ruin is that of all days', () => {
  const book = { period: 'daily', first: 100, values: Float64Array.of(2, 0.5, 0.5, -1, 0, 0) } as const
  const held = new Map([['A', { ...book, first: 99, values: Float64Array.of(3, 1, 1, 1) }]])
  const firstOf = (from: number) => {
    const { lines, days } = bookModel({ caveat: null }, book, held, { from, to: null }).equity
    return [days.from, ...lines.map(({ first, values }) => values[days.from - first])]
  }
  expect([100, 101, 104].map(firstOf)).toEqual([
    [100, 3, 2],
    [101, 1.5, 2],
    [100, 3, 2],
  ])
})

test('the book and the explorer of 300 strategies are whole and take less than 200 bytes compressed for each', () => {
  const pages = pagesOf(oddBook(300))
  for (const file of ['index.html', 'explore.html']) {
    const page = pages.get(file)!()
    expectWhole(file, page)
    const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }
    expect(brotliCompressSync(page, quality).length / 300, file).toBeLessThan(200)
    expect(page.match(/<tr data-rank=/g)).toHaveLength(300)
  }
})

test('the table of strategies shows what is short, open, ruined or ended, as in strategies.txt, and has it last', async () => {
  const rows = pagesOf(oddBook()).get('index.html')!().match(/<tr data-rank=.*?<\/tr>/gs)!
  const said = rows.map(row => [
    /strategies\/([\w-]+)/.exec(row)![1],
    / data-state="([^"]*)"/.exec(row)![1],
    /data-of="History">(.*?)<\/td>/s.exec(row)![1]!.replaceAll(/<[^>]*>/g, ''),
  ])
  await expect(`${said.map(row => row.join(': ')).join('\n')}\n`).toMatchFileSnapshot('strategies.txt')
  expect(rows.map(row => row.includes('l10 10M'))).toEqual(said.map(([id]) => id === 'ruined'))
  expect(rows[3]).not.toContain('%')
  expect(rows[5]).toContain('2 days: too short')
})

test('the style sheet moves nothing by itself, for those who ask for less motion, too', () => {
  const style = Buffer.from(ASSETS.find(({ name }) => name === 'style.css')!.bytes).toString()
  expect(style).not.toMatch(/animation|transition|@keyframes|scroll-behavior/)
})

const ROOT = join(import.meta.dirname, '../..')

/** The page and its script together are loaded in one round trip or two. */
const MOST_BYTES = 30_000

test.each(PAGE_SCRIPTS.map((name, i) => ({ name, config: configs[i]! })))(
  'the script $name is what `make pages` builds from the sources, is small, compiles no code and names no other address',
  async ({ config }) => {
    const committed = await readFile(join(ROOT, config.output.file), 'utf8')
    const built = await build({ ...config, write: false })
    expect(built.output.map(({ type }) => type)).toEqual(['chunk'])
    expect(built.output[0].code).toBe(committed)
    expect(brotliCompressSync(committed).length).toBeLessThan(MOST_BYTES)
    const foreign = committed.replaceAll('http://www.w3.org/2000/svg', '')
    expect(foreign).not.toMatch(/\beval\b|\bFunction\(|\bWebAssembly\b|\bimport\(|https?:\/\//)
  },
)
