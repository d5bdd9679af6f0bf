import { execFile } from 'node:child_process'
import { appendFile, cp, open, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { lastingFolder } from '../temporary-folder.ts'
import { TINY_BOOK } from './publish-book.ts'

/** The tiny book with a module that waits to be let go, so that a build lasts as long as a test needs it to. */
export async function waitingBook(): Promise<{ readonly book: string; readonly letGo: () => Promise<void> }> {
  const book = join(await lastingFolder(), 'book')
  await cp(TINY_BOOK, book, { recursive: true })
  // Reading a pipe waits until something has written to it.
  const gate = join(book, 'strategies/gate.ts')
  await promisify(execFile)('mkfifo', [gate])
  await appendFile(join(book, 'strategies/ash.ts'), `import './gate.ts'\n`)
  const letGo = async (): Promise<void> => {
    const pipe = await open(gate, 'w')
    await writeFile(`${gate}.open`, '')
    await rename(`${gate}.open`, gate) // for later builds
    await pipe.close()
  }
  return { book, letGo }
}
