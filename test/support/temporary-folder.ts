import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { removeAtEnd, removeAtEndOfFile } from './ends.ts'

const newFolder = (): Promise<string> => mkdtemp(join(tmpdir(), 'highwater-test-'))

/** A new folder for the running test, or for the file if no test runs. */
export async function temporaryFolder(): Promise<string> {
  const folder = await newFolder()
  removeAtEnd(folder)
  return folder
}

/** A new folder for all tests of a file. */
export async function lastingFolder(): Promise<string> {
  const folder = await newFolder()
  removeAtEndOfFile(folder)
  return folder
}

/** Writes texts or bytes by path into a folder. */
export async function writeFiles(folder: string, files: Readonly<Record<string, string | Uint8Array>>) {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), content)
  }
}

/** Hands over a temporary folder with texts by path. */
export async function withFiles<Result>(
  files: Readonly<Record<string, string>>,
  use: (folder: string) => Promise<Result>,
): Promise<Result> {
  const folder = await temporaryFolder()
  await writeFiles(folder, files)
  return use(folder)
}
