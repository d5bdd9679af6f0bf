// Preloaded into a process: tells every module that it loads on stderr, a line each.
import { writeSync } from 'node:fs'
import { registerHooks } from 'node:module'

const STDERR = 2

registerHooks({
  load(url, context, nextLoad) {
    writeSync(STDERR, `loaded ${url}\n`)
    return nextLoad(url, context)
  },
})
