// Which code runs: for the record of a build, and for a fleet, whose members must be equal.
import { execFile } from 'node:child_process'
import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Manifest } from '#core/contract/manifest.ts'
import { sha256 } from '#storage/digest.ts'
import { ifThere } from '#storage/error-code.ts'

/** Which code builds: the commit, the Node version and the lockfile, as far as they can be known. */
export async function describeCode(root: string): Promise<Manifest['built_with']> {
  const { version, gitHead } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as Project // our own file
  const lockfile = await readLockfile(root)
  return {
    highwater: version,
    node: process.version,
    commit: gitHead === undefined ? await commitOf(root) : gitHead,
    lockfile_sha256: lockfile && sha256(lockfile),
  }
}

/** An npm package names the commit that it was made of: it may be installed in the checkout of another project. */
type Project = { readonly version: string; readonly gitHead?: string | null }

/** Outside a git checkout, or without git, the commit is unknown and nothing is wrong. */
const commitOf = (root: string): Promise<string | null> =>
  promisify(execFile)('git', ['-C', root, 'rev-parse', 'HEAD']).then(
    ({ stdout }) => stdout.trim(),
    () => null,
  )

/** The lockfile of a checkout or, under another name, that of an npm package. Null if neither is there. */
const readLockfile = async (root: string): Promise<Uint8Array | null> =>
  (await ifThere(readFile(join(root, 'package-lock.json')), null)) ??
  ifThere(readFile(join(root, 'npm-shrinkwrap.json')), null)

/** What decides the result of a task of a fleet, below the folder of the project. */
const SOURCES = '{core,fleet,pages,pipeline,static-build,storage}/**/*.{ts,js,css,json}'

/** Equal if the same sources, packages, Node, compressors and architecture run: processes of equal code make equal bytes. */
export async function fleetCode(root: string): Promise<string> {
  const paths = globSync(SOURCES, { cwd: root }).sort()
  const files = await Promise.all(paths.map(async path => [path, sha256(await readFile(join(root, path)))]))
  const lockfile = await readLockfile(root)
  const runs = [...['node', 'zlib', 'brotli'].map(name => process.versions[name]), process.arch]
  const text = JSON.stringify({ files, lockfile: lockfile && sha256(lockfile), runs })
  return sha256(text).slice(0, 16)
}
