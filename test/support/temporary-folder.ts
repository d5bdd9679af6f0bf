import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'

const newFolder = (): Promise<string> => mkdtemp(join(tmpdir(), 'highwater-test-'))

const remove = (folder: string): Promise<void> => rm(folder, { recursive: true, force: true })

/** A new folder that is gone after the test that asked for it. */
export async function temporaryFolder(): Promise<string> {
  const folder = await newFolder()
  onTestFinished(() => remove(folder))
  return folder
}

/** Writes texts or bytes by path into a folder. */
export async function writeFiles(
  folder: string,
  files: Readonly<Record<string, string | Uint8Array>>,
): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), content)
  }
}

/** Hands over a folder with texts by path, which is gone afterwards. */
export async function withFiles<Result>(
  files: Readonly<Record<string, string>>,
  use: (folder: string) => Promise<Result>,
): Promise<Result> {
  const folder = await newFolder()
  try {
    await writeFiles(folder, files)
    return await use(folder)
  } finally {
    await remove(folder)
  }
}
