import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DAY_MS, type EpochDay, toIsoDate } from '#core/calendar.ts'
import { createMarket } from '../sample/market.ts'
import { marketFiles } from '../sample/market-files.ts'
import { moduleKit, templateModules, writeNewFolder } from './new-book.ts'

const TEMPLATE = join(import.meta.dirname, 'template')

/** Two years: enough for every annual figure to exist, little enough to be read. */
const DAYS = 730

/** Days before the inception: what the example module warms up on. */
const WARMUP_DAYS = 30

const SEED = 1

/**
 * Writes the book that `highwater init` begins with: a commented catalogue, a README that shows every file
 * format, a strategy module with its types, and small synthetic bars and funding up to `lastDay`, so that the
 * book builds as it is. Refuses a folder that has something in it.
 */
export async function writeStarterBook(dir: string, lastDay: EpochDay): Promise<void> {
  const endMs = (lastDay + 1) * DAY_MS
  const inception = toIsoDate(lastDay + 1 - DAYS + WARMUP_DAYS)
  const template = (path: string) => readFile(join(TEMPLATE, path), 'utf8')
  await writeNewFolder(dir, {
    'README.md': await template('README.md'),
    'catalogue.yaml': (await template('catalogue.yaml')).replace('INCEPTION', inception),
    ...(await templateModules(TEMPLATE)),
    ...(await moduleKit()),
    ...marketFiles('BTCUSDT-PERP', createMarket(SEED, endMs - DAYS * DAY_MS, endMs)),
    'ledgers/README.md': 'Ledgers, one file a strategy: `<id>.csv`. The format is in `../README.md`.\n',
    'returns/README.md':
      'Reported daily returns, one file a strategy: `<id>.csv`. The format is in `../README.md`.\n',
  })
}
