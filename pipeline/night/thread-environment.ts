import { getCompileCacheDir } from 'node:module'
import { dirname } from 'node:path'

/**
 * The environment of a thread that runs strategy modules: trusted code, which has no business with our secrets. It tells Node
 * alone where compiled modules are kept, where they are: that is half of the time until a thread works. The fence takes it away.
 */
export function threadEnvironment(): Record<string, string> {
  const folder = getCompileCacheDir() // of this version of Node, below the one that is kept for all
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) }
}
