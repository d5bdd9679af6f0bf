// A book of many small strategies: enough that the workers of a fleet are killed between them.
import { cp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { TINY_BOOK } from './publish-book.ts'

/** Writes the tiny book with `count` strategies of reported returns instead of its own, each with returns of another size. */
export async function writeFleetBook(folder: string, count: number): Promise<string> {
  await cp(TINY_BOOK, folder, { recursive: true })
  for (const part of ['strategies', 'ledgers']) await rm(join(folder, part), { recursive: true })
  const [header, ...rows] = (await readFile(join(folder, 'returns/elm.csv'), 'utf8')).trim().split(/\r?\n/)
  for (const name of ['elm', 'yew']) await rm(join(folder, `returns/${name}.csv`))
  const catalogue = (await readFile(join(folder, 'catalogue.yaml'), 'utf8')).replace(/^ {2}- .*\n/gm, '')
  const entries: string[] = []
  for (let i = 0; i < count; i++) {
    const scaled = rows.map(row => {
      const [day, ret] = row.split(',')
      return `${day},${(Number(ret) * (1 - i / 40)).toFixed(6)}`
    })
    await writeFile(join(folder, `returns/pine${i}.csv`), `${[header, ...scaled].join('\n')}\n`)
    entries.push(
      `  - { id: pine${i}, name: Pine ${i}, base_risk_pct: 0.02, source: returns, inception: 2024-02-05, ` +
        'commission_bps_per_side: 0, slippage_ticks: 0, engine: made by hand }',
    )
  }
  await writeFile(
    join(folder, 'catalogue.yaml'),
    catalogue.replace('strategies:\n', `strategies:\n${entries.join('\n')}\n`),
  )
  return folder
}
