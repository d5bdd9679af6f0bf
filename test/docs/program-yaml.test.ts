// What the docs show of program.yaml is what the reader takes, and what they call defaults are the defaults.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readChanged } from '../pipeline/book/book-folder.ts'
import { BARS } from '../pipeline/book/program-book.ts'

const ROOT = join(import.meta.dirname, '../..')

/** The plan of the one YAML text of a page that names an alias. */
async function planIn(page: string, change: (text: string) => string = text => text) {
  const text = await readFile(join(ROOT, page), 'utf8')
  const examples = [...text.matchAll(/```yaml\n(alias: [\s\S]*?)```/g)].map(([, yaml = '']) => yaml)
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
