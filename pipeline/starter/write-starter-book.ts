import { mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DAY_MS, type EpochDay, toIsoDate } from '#core/calendar.ts'
import { writeBookFiles } from '../book/write-table.ts'
import { createMarket, marketFiles } from '../sample/market.ts'

const TEMPLATE = join(import.meta.dirname, 'template')

const fromTemplate = (path: string): Promise<string> => readFile(join(TEMPLATE, path), 'utf8')

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
  await writeNewFolder(dir, {
    'README.md': await fromTemplate('README.md'),
    'catalogue.yaml': (await fromTemplate('catalogue.yaml')).replace('INCEPTION', inception),
    ...(await readModules(TEMPLATE)),
    ...marketFiles('BTCUSDT-PERP', createMarket(SEED, endMs - DAYS * DAY_MS, endMs)),
    'ledgers/README.md': 'Ledgers, one file a strategy: `<id>.csv`. The format is in `../README.md`.\n',
    'returns/README.md':
      'Reported daily returns, one file a strategy: `<id>.csv`. The format is in `../README.md`.\n',
  })
}

/** Writes the files into a new or empty folder. Throws for any other, so that no book is overwritten. */
export async function writeNewFolder(dir: string, files: Readonly<Record<string, string>>): Promise<void> {
  await mkdir(dir, { recursive: true })
  const there = await readdir(dir)
  if (there.length > 0)
    throw new Error(
      `expected an empty or new folder, got ${dir} with ${there[0]} in it${there.length > 1 ? ' and more' : ''}: ` +
        'name another folder, or empty this one first',
    )
  await writeBookFiles(dir, files)
}

/** What modules import beside the indicators of the template: in a book both are in `strategies/highwater/`. */
const TYPES = join(import.meta.dirname, '../../core/replay/strategy.ts')

/** The modules of a template, the types and indicators that they import, and two files by which Node and editors read them. */
export async function readModules(template: string): Promise<Record<string, string>> {
  const names = (await readdir(join(template, 'strategies'))).filter(name => name.endsWith('.ts')).sort()
  const modules = names.map(async name => [
    `strategies/${name}`,
    importFrom('./highwater', await readFile(join(template, 'strategies', name), 'utf8')),
  ])
  return {
    ...Object.fromEntries(await Promise.all(modules)),
    'strategies/highwater/strategy.ts': await readFile(TYPES, 'utf8'),
    'strategies/highwater/indicators.ts': importFrom(
      '.',
      await fromTemplate('strategies/highwater/indicators.ts'),
    ),
    // Without it Node has to guess that a `.ts` file is a module.
    'package.json': await fromTemplate('book-package.json'),
    // The settings under which Node runs a `.ts` file as it is.
    'tsconfig.json': await fromTemplate('book-tsconfig.json'),
  }
}

const importFrom = (folder: string, text: string): string =>
  text.replaceAll(/'[^']*\/(strategy|indicators)\.ts'/g, `'${folder}/$1.ts'`)
