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

const NODE_PACKAGE = `node-${process.platform}-${process.arch}`

/**
 * The Node binary of a package of npm: below a checkout, which has it among its dependencies, or beside Highwater as a
 * package, where its user may install it. Null if there is none.
 */
export function pinnedNode() {
  const folders = [join(root, 'node_modules'), dirname(root)]
  const binaries = folders.map(folder => join(folder, NODE_PACKAGE, 'bin', 'node'))
  return binaries.find(existsSync) ?? null
}

/** True when the Node that runs this line is new enough by itself. */
export function isRunningNodeEnough() {
  return Number(process.versions.node.split('.')[0]) >= REQUIRED_MAJOR
}

/** The sentence for a machine that has neither. */
export const NO_NODE =
  `highwater needs Node ${REQUIRED_MAJOR} or newer; this is ${process.version} on ${process.platform}-${process.arch}, ` +
  'and no newer one is installed with it. On Linux x64 or arm64 run `npm ci` without --omit=optional in a checkout, or ' +
  `\`npm install ${NODE_PACKAGE}@${REQUIRED_MAJOR}\` beside the package; elsewhere install Node ${REQUIRED_MAJOR}.`

/** The sentence for a checkout in which nothing is installed. */
export const NO_PACKAGES = `the packages that highwater needs are not installed in ${root}: run \`npm ci\` there`

/** The sentence for a pinned Node that cannot be started. */
export const brokenNode = (binary, reason) =>
  `highwater cannot start the Node that came with its dependencies, ${binary} (${reason}): install them again with ` +
  `\`npm ci\`, or start this command with Node ${REQUIRED_MAJOR} or newer.`
