import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Manifest } from '#core/contract/manifest.ts'
import { sha256 } from '#storage/digest.ts'

/** Which code builds: the commit, the Node version and the lockfile, as far as they can be known. */
export async function describeCode(root: string): Promise<Manifest['built_with']> {
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string } // our own file
  return {
    highwater: version,
    node: process.version,
    commit: await commitOf(root),
    lockfile_sha256: await lockfileDigest(root),
  }
}

/** Outside a git checkout, or without git, the commit is unknown and nothing is wrong. */
const commitOf = (root: string): Promise<string | null> =>
  promisify(execFile)('git', ['-C', root, 'rev-parse', 'HEAD']).then(
    ({ stdout }) => stdout.trim(),
    () => null,
  )

const lockfileDigest = (root: string): Promise<string | null> =>
  readFile(join(root, 'package-lock.json')).then(sha256, () => null)
