// Loaded first in a process of many test files: there a build on one thread starts none, because that takes a second
// where the code of the tasks is loaded already.
import { registerHooks } from 'node:module'

const POOL = new URL('pool.ts', import.meta.url).href

registerHooks({
  resolve: (name, context, next) =>
    name === 'tinypool' ? { url: POOL, shortCircuit: true } : next(name, context),
})
