import { readFileSync } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { codeOf } from './error-code.ts'
import { createFileStore } from './file-store.ts'
import { removeUnfinished } from './placing.ts'
import { parseS3Url, type S3Access, type S3Patience, toS3Url } from './s3-access.ts'

/** Opens `file:///absolute/folder` or `s3://bucket/prefix`. Makes no folder; a bucket must exist. Throws with the legal forms. */
export async function openStore(url: string, access: S3Access | null = null, patience?: S3Patience) {
  if (!isS3(url)) return createFileStore(folderOf(url))
  if (access === null) throw new Error(`no S3 access was given for ${url}: only folders can be opened here`)
  const { createS3Store } = await import('./s3-store.ts') // a fifth of a second, which files need not wait for
  return createS3Store(url, access, patience)
}

/** Throws an error with the legal forms if a text is no URL of a store. */
export const assertStoreUrl = (url: string): unknown => (isS3(url) ? parseS3Url(url) : folderOf(url))

/** Throws if one store is the other or below it: a web server would serve stops and leverage, which only the snapshot has. */
export async function assertApart(publicUrl: string, privateUrl: string): Promise<void> {
  const [open, hidden] = [await placeOf(publicUrl), await placeOf(privateUrl)]
  if (!open.startsWith(hidden) && !hidden.startsWith(open)) return
  throw new Error(
    `the private store ${privateUrl} and the public store ${publicUrl} overlap, so private files would be served: ` +
      `name a private store outside of the public one and not around it, such as ${privateTwin(publicUrl)}`,
  )
}

/** Removes what crashed processes left half-written. A bucket never shows what was not sent completely. */
export async function cleanStore(url: string): Promise<void> {
  if (!isS3(url)) await removeUnfinished(folderOf(url), isAlive)
}

/** The private store if none is named: a sibling folder, which no web server of the public one serves, or another bucket. */
export const privateTwin = (url: string): string => `${url.replace(/\/+$/, '')}.private`

/** The place of a store, with a slash at its end: equal for equal places, a prefix of every place below. */
const placeOf = async (url: string): Promise<string> =>
  `${(isS3(url) ? toS3Url(parseS3Url(url)) : await realPath(folderOf(url))).replace(/\/+$/, '')}/`

const isS3 = (url: string): boolean => url.startsWith('s3://')

/** The path without links, as far as it can be followed; the first write reports the rest. */
const realPath = (path: string): Promise<string> =>
  realpath(path).catch(async () =>
    path === dirname(path) ? path : join(await realPath(dirname(path)), basename(path)),
  )

function folderOf(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : null
  if (parsed?.protocol === 'file:' && parsed.host === '') return fileURLToPath(parsed)
  throw new Error(
    `not a store: ${JSON.stringify(url)}; expected file:///absolute/folder or s3://bucket/prefix`,
  )
}

/** Whether a process of this host lives: one that we may not signal does, one that its parent has not reaped does not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if (codeOf(error) !== 'EPERM') return false
  }
  return !isZombie(pid)
}

/** The state follows the name in parentheses, which may contain any character. False if there is no /proc. */
function isZombie(pid: number): boolean {
  try {
    return /.*\) (\w)/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1] === 'Z'
  } catch {
    return false
  }
}
