// After `npm install`: put the pinned Node first on the path of `npm run` and `make`.
// npm before 11.6 does not link the binary of an optional dependency by itself.
import { mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isRunningNodeEnough, NO_NODE, pinnedNode } from './pinned-node.mjs'

const binary = pinnedNode()
if (binary === null && !isRunningNodeEnough()) {
  console.error(NO_NODE)
  process.exit(1)
}
if (binary !== null) {
  const bin = join(dirname(dirname(fileURLToPath(import.meta.url))), 'node_modules', '.bin')
  mkdirSync(bin, { recursive: true })
  rmSync(join(bin, 'node'), { force: true })
  symlinkSync(relative(bin, binary), join(bin, 'node'))
}
