import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** Texts by path, with forward slashes. */
export type TextFiles = Readonly<Record<string, string>>

/** Writes the files into a folder that is new or empty; refuses any other, so that nobody's book is overwritten. */
export async function writeNewFolder(dir: string, files: TextFiles): Promise<void> {
  await mkdir(dir, { recursive: true })
  const there = await readdir(dir)
  if (there.length > 0) {
    throw new Error(
      `expected an empty or new folder, got ${dir} with ${there[0]} in it${there.length > 1 ? ' and more' : ''}: ` +
        'name another folder, or empty this one first',
    )
  }
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(dir, path)), { recursive: true })
    await writeFile(join(dir, path), text)
  }
}
