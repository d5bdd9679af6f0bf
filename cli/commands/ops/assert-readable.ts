import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { codeOf } from '#storage/error-code.ts'
import { UsageError } from '../../environment.ts'

/** Resolves with the path itself. Throws a UsageError where no file is there, or we may not read it. */
export async function assertReadable(path: string): Promise<string> {
  try {
    await access(path, constants.R_OK)
    return path
  } catch (error) {
    const what = codeOf(error) === 'ENOENT' ? 'there is no such file' : 'it cannot be read'
    throw new UsageError(`${path}: ${what}; give the path of one that this user may read`)
  }
}
