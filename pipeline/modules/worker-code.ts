import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'

const PRODUCT = new URL('../../', import.meta.url)

/** The texts of files by their URLs, without types. */
export type Code = Readonly<Record<string, string>>

let code: Code | undefined

/** The worker and all that it imports. To remove their types takes 0.2 s: this process does it once, for all of its own. */
export function workerCode(): Code {
  code ??= collect(new URL('pipeline/modules/worker.ts', PRODUCT), {})
  return code
}

function collect(url: URL, found: Record<string, string>): Code {
  const source = readFileSync(url, 'utf8')
  const text = url.pathname.endsWith('.ts') ? stripTypes(source) : source // that of an npm package has none
  found[url.href] = text
  for (const [, specifier = ''] of text.matchAll(/^(?:import|\}) .*from '([.#][^']+)'$/gm)) {
    const imported = specifier.startsWith('#')
      ? new URL(specifier.slice(1), PRODUCT)
      : new URL(specifier, url)
    if (!(imported.href in found)) collect(imported, found)
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
