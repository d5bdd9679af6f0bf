// A book in a folder of its own, and commands on it and on the stores beside it.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Runtime } from '#cli/runtime.ts'
import { versionFolder } from '#core/contract/artifacts.ts'
import { openStore, privateTwin } from '#storage/open-store.ts'
import { aLedger, catalogue, dailyBars, dailyFunding, ONE_TRADE } from '#test/pipeline/night/night-book.ts'
import { pointerOf } from '#test/support/stores/stores.ts'
import { temporaryFolder, writeFiles } from '#test/support/temporary-folder.ts'
import { run } from './made-up.ts'

/** Fourteen days, up to the day before the made-up now. */
export const CLOSES = [100, 101, 99, 98, 97, 99, 103, 105, 106, 104, 101, 99, 98, 100]
export const BARS = dailyBars(CLOSES)

export type Files = Readonly<Record<string, string>>

export const BOOK = {
  'catalogue.yaml': catalogue([aLedger('ash')], {}, '24h'),
  'bars/BTCUSDT-PERP/1d.csv': BARS,
  'funding/BTCUSDT-PERP.csv': dailyFunding(14),
  'ledgers/ash.csv': ONE_TRADE,
}

/** A book of these files in a folder. */
export async function openBook(files: Files = BOOK, given?: string) {
  const folder = given ?? (await temporaryFolder())
  const change = (changed: Files) => writeFiles(join(folder, 'book'), changed)
  await change(files)
  const url = pathToFileURL(join(folder, 'store')).href
  const stores = { url, privateUrl: privateTwin(url) }
  const command = (args: readonly string[], { env = {}, ...world }: Partial<Runtime> = {}) =>
    run(args, { cwd: folder, ...world, env: { BUILD_EFFORT: 'quick', ...env } })
  const onStore = (args: readonly string[], world?: Partial<Runtime>) =>
    command([...args, '--store', url], world)
  return {
    ...{ folder, stores, store: await openStore(url), change, onStore },
    build: (args: readonly string[] = [], world?: Partial<Runtime>) =>
      onStore(['build', '--book', 'book', ...args], world),
    check: (...args: readonly string[]) => command(['check', '--book', 'book', ...args]),
    served: () => pointerOf(stores),
    /** A published file of a version. */
    file: (version: string, name: string) =>
      readFile(join(fileURLToPath(url), versionFolder(version), name), 'utf8'),
  }
}
