import { hash } from 'node:crypto'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { getCompileCacheDir, stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'

const PRODUCT = new URL('../../', import.meta.url)

/** The texts of files by their URLs, without types. */
export type Code = Readonly<Record<string, string>>

let code: Code | undefined

/** The worker and all that it imports. To remove their types takes 0.2 s: this process does it once, for all of its own. */
export function workerCode(): Code {
  if (code !== undefined) return code
  const path = keptAt()
  const known = path === null ? {} : readKept(path)
  const stripped: Record<string, string> = {}
  code = collect(new URL('pipeline/modules/worker.ts', PRODUCT), {}, text => {
    const digest = hash('sha256', text)
    stripped[digest] = known[digest] ?? stripTypes(text)
    return stripped[digest]
  })
  if (path !== null && Object.keys(stripped).some(digest => !(digest in known))) keep(path, stripped)
  return code
}

function collect(url: URL, found: Record<string, string>, strip: (text: string) => string): Code {
  const text = strip(readFileSync(url, 'utf8'))
  found[url.href] = text
  for (const [, specifier = ''] of text.matchAll(/^(?:import|\}) .*from '([.#][^']+)'$/gm)) {
    const imported = specifier.startsWith('#')
      ? new URL(specifier.slice(1), PRODUCT)
      : new URL(specifier, url)
    if (!(imported.href in found)) collect(imported, found, strip)
  }
  return found
}

/** Without the warning that the function is experimental: a command would print it. */
function stripTypes(text: string): string {
  const emit = process.emitWarning
  process.emitWarning = () => {}
  try {
    return stripTypeScriptTypes(text)
  } finally {
    process.emitWarning = emit
  }
}

/** Beside the code that Node has compiled. Null if it keeps none. */
function keptAt(): string | null {
  const folder = getCompileCacheDir()
  return folder === undefined ? null : join(folder, 'module-processes.json')
}

/** Texts without types by the checksums of those with types, from an earlier process. */
function readKept(path: string): Code {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Code // written by `keep`
  } catch {
    return {} // there is none yet
  }
}

function keep(path: string, stripped: Code): void {
  try {
    writeFileSync(`${path}.${process.pid}`, JSON.stringify(stripped))
    renameSync(`${path}.${process.pid}`, path)
  } catch {
    // Node keeps nothing in a folder that is read-only either.
  }
}
