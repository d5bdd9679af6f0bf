import { appendFile, cp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { lastingFolder } from '../stores/stores.ts'
import { TINY_BOOK } from './publish-book.ts'

/** The tiny book with a module that waits to be let go, so that a build lasts as long as a test needs it to. */
export async function waitingBook(): Promise<{ readonly book: string; readonly letGo: () => Promise<void> }> {
  const book = join(await lastingFolder(), 'book')
  await cp(TINY_BOOK, book, { recursive: true })
  await appendFile(
    join(book, 'strategies/ash.ts'),
    `import { existsSync } from 'node:fs'
import { setTimeout as after } from 'node:timers/promises'
while (!existsSync(new URL('../go', import.meta.url))) await after(20)
`,
  )
  return { book, letGo: () => writeFile(join(book, 'go'), '') }
}
