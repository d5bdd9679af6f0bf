// The pages for authors of books are followed from top to bottom: every command runs, and prints what the page shows.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { strToU8, zipSync } from 'fflate'
import { expect, test } from 'vitest'
import { createForeignFiles, openOf } from '../support/books/foreign-files.ts'
import { startProcess } from '../support/history/highwater-process.ts'
import { blocksOf, missingIn, pastedFrom } from '../support/page-blocks.ts'
import { temporaryFolder, writeFiles } from '../support/temporary-folder.ts'
import { run } from './made-up.ts'

const ROOT = join(import.meta.dirname, '../..')

type Block = { readonly script: string; readonly printed: string }

/** Runs the commands of a block in a folder, as a shell would: blocks of these pages have nothing else. A preview is stopped once it serves. */
async function paste(cwd: string, { script, printed }: Block): Promise<void> {
  let shown = ''
  for (const line of script.replaceAll('/tmp/highwater', cwd).trimEnd().split('\n')) {
    const [, args = ''] = /^(?:npx )?highwater ([^'"$|;&<>*]+)$/.exec(line) ?? []
    const { code, out, err } = await run(args.split(' '), { cwd, now: Date.now })
    expect({ line, code, err }).toEqual({ line, code: 0, err: expect.any(String) })
    if (args.startsWith('preview ')) expect(out).toMatch(/^the same answers on http:/m)
    shown += out + err
  }
  expect({ shown, missing: missingIn(shown, printed.split('\n')) }).toEqual({ shown, missing: [] })
}

/** Commands in the text of a page that name a folder; others name what only a reader has, such as two versions. */
const commandsIn = (page: string): Block[] =>
  [...readFileSync(join(ROOT, page), 'utf8').matchAll(/`((?:npx )?highwater [^`\n]* \.\/[^`\n]*)`/g)].map(
    ([, script = '']) => ({ script, printed: '' }),
  )

/** What tools and exchanges would have written, under the names of the page. */
const foreignFiles = () => {
  const DAY_MS = 86_400_000
  const START_MS = Date.UTC(2024, 11, 1)
  const { binance, freqtrade, listOfTrades } = createForeignFiles(START_MS)
  const days = Array.from({ length: 41 }, (_, i) => {
    const day = new Date(START_MS + i * DAY_MS)
    const prices = [openOf(i), openOf(i) + 8, openOf(i) - 8, openOf(i + 1)]
    return `${Number(day) / 1000},${day.toISOString().slice(0, 10)} 00:00:00,BTC/USD,${prices},1,100`
  })
  const zip = (name: string, text: string) => ({
    [`${name}.zip`]: zipSync({ [`${name}.csv`]: strToU8(text) }),
  })
  return {
    'Bitstamp_BTCUSD_d.csv': [
      'https://www.CryptoDataDownload.com',
      'unix,date,symbol,open,high,low,close,Volume BTC,Volume USD',
      ...days.toReversed(),
      '',
    ].join('\n'),
    ...zip('BTCUSDT-1h-2024-12', binance(0, 744, 1)),
    ...zip('BTCUSDT-1h-2025-01', binance(744, 744, 1000)),
    'trades.csv': listOfTrades(),
    'backtest-result.zip': zipSync({ 'backtest-result.json': strToU8(JSON.stringify(freqtrade())) }),
    'fund.csv': 'Date,Return\n2024-12-01,1.5\n2024-12-02,-0.25\n',
  }
}

test('the commands of docs/importing.md make a book that is sound', async () => {
  const folder = await temporaryFolder()
  await writeFiles(folder, foreignFiles())
  const blocks = [...pastedFrom('docs/importing.md'), ...commandsIn('docs/importing.md')]
  expect(blocks.length).toBeGreaterThan(2)
  for (const block of blocks) await paste(folder, block)
  await paste(folder, { script: 'highwater check --book ./book --allow-stale', printed: '' })
})

test('the commands of docs/strategies.md run, and its strategy has the types that a book brings, and builds', async () => {
  const folder = await temporaryFolder()
  const [init, ...blocks] = blocksOf('docs/strategies.md').filter(({ language }) =>
    /^(?:sh|ts)$/.test(language),
  )
  const commands = commandsIn('docs/strategies.md')
  expect([init?.language, blocks.length, commands.length]).toEqual(['sh', 2, 2])
  await paste(folder, { script: init!.text, printed: '' })
  for (const { language, text } of blocks)
    if (language === 'sh') await paste(folder, { script: text, printed: '' })
    else await writeFiles(folder, { 'book/strategies/oak.ts': text })
  const types = startProcess('tsc', ['--noEmit', '--project', join(folder, 'book')])
  expect(await types.ended).toMatchObject({ code: 0, stdout: '' })
  for (const command of commands) await paste(folder, command)
  await paste(folder, {
    script: 'highwater build --book ./book --store file:///tmp/highwater/new',
    printed: '',
  })
})
