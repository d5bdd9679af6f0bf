// Where the Node that runs Highwater is. Plain JavaScript: this runs on whatever Node the machine has.
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The first major version that runs TypeScript as it is. */
export const REQUIRED_MAJOR = 24

const root = dirname(dirname(fileURLToPath(import.meta.url)))

/**
 * The folder of compiled modules: compiling takes half of the time that a command needs to start. Node checks them
 * against their sources, and compiles them again if it cannot write here. It is removed with the dependencies.
 */
export const COMPILE_CACHE = join(root, 'node_modules', '.cache', 'compiled')

/** The Node binary that npm installed with the dependencies, or null if npm has none for this machine. */
export function pinnedNode() {
  const binary = join(root, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin', 'node')
  return existsSync(binary) ? binary : null
}

/** True when the Node that runs this line is new enough by itself. */
export function isRunningNodeEnough() {
  return Number(process.versions.node.split('.')[0]) >= REQUIRED_MAJOR
}

/** The sentence for a machine that has neither. */
export const NO_NODE =
  `highwater needs Node ${REQUIRED_MAJOR} or newer; this is ${process.version} on ${process.platform}-${process.arch}, ` +
  'and npm brings no newer one for it. On Linux x64 or arm64 run `npm ci` without --omit=optional; ' +
  `elsewhere install Node ${REQUIRED_MAJOR} and run the command again.`

/** The sentence for a pinned Node that cannot be started. */
export const brokenNode = (binary, reason) =>
  `highwater cannot start the Node that came with its dependencies, ${binary} (${reason}): install them again with ` +
  `\`npm ci\`, or start this command with Node ${REQUIRED_MAJOR} or newer.`
