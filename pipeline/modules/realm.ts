import { hash } from 'node:crypto'
import { readFileSync, realpathSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { basename, dirname, extname, relative, sep } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { type Context, constants, createContext, SourceTextModule } from 'node:vm'
import { describeInstant } from '#core/replay/bars.ts'
import type { Decision, Strategy } from '#core/replay/strategy.ts'
import type * as Driver from './driver.ts'
import { ModuleFault } from './module-fault.ts'

/** A strategy module in a context of its own, for one run. The engine runs `strategy`, whose state stays in there. */
export type Realm = Awaited<ReturnType<typeof openRealm>>

/** A file that a module consists of; the path is from its folder on, with forward slashes. */
export type ModuleFile = { readonly path: string; readonly bytes: number; readonly sha256: string }

/** Loads a module, `entry` without links, into a new context. With `isTraced` errors have a line and prove nothing: `confine`. */
export async function openRealm(entry: string, isTraced: boolean) {
  const context = createContext(constants.DONT_CONTEXTIFY, {
    codeGeneration: { strings: false, wasm: false },
  })
  const driver = await openDriver(context)
  driver.confine(isTraced)
  const toFault = (thrown: unknown): ModuleFault => parseFault(driver.describe(thrown), entry)
  const folder = dirname(entry)
  const { module, paths } = await load(context, entry, resolveInFolder(folder)).catch((error: unknown) => {
    throw error instanceof Error ? error : toFault(error) // a SyntaxError of the context is no Error of ours
  })
  const run = module.evaluate().catch((thrown: unknown) => Promise.reject(toFault(thrown)))
  const outcome = await Promise.race([run, nextTurn('waits')])
  if (outcome === 'waits') throw new ModuleFault(['it waits at its top level for something that never comes'])
  const declared = read<Declared | null>(driver.adopt(module.namespace), entry)
  if (declared === null)
    throw new ModuleFault([
      'a strategy module exports `strategy`, an object with init() and onBar(); this one does not',
    ])
  return {
    strategy: toStrategy(declared, driver, entry),
    /** The module and all that it imports. */
    files: paths.map(path => describeFile(folder, path)),
    /** The state as plain JSON. Throws a ModuleFault if it is none. */
    save: () => read<unknown>(driver.save(), entry),
    /** Sets the state, and returns it as the engine keeps it. */
    load(own: unknown): unknown {
      driver.load(JSON.stringify(own))
      return toHandle(driver, entry)
    },
    takePrinted: driver.takePrinted,
    /** What was thrown by code of the context, as a fault. */
    toFault,
  }
}

type Declared = Omit<Strategy, 'init' | 'onBar'>

function toStrategy(declared: Declared, driver: typeof Driver, entry: string): Strategy {
  const { decide } = driver
  return {
    ...declared,
    init() {
      read(driver.init() || 'null', entry)
      return toHandle(driver, entry)
    },
    onBar(_, { t, o, h, l, c, v }, position) {
      const answer =
        position === null
          ? decide(t, o, h, l, c, v, null, 0, 0, 0)
          : decide(t, o, h, l, c, v, position.side, position.entry_time, position.entry_price, position.stop)
      return answer === null ? null : readDecision(answer, t, entry)
    },
  }
}

/** The engine checks what it decided. */
function readDecision(answer: string, t: number, entry: string): Decision {
  if (answer === '') return undefined as unknown as Decision // what the engine refuses as no decision
  if (!answer.startsWith('!')) return JSON.parse(answer) as Decision
  const { messages, place } = parseFault(answer, entry)
  throw new ModuleFault([`at the bar of ${describeInstant(t)}: ${messages[0]}`], place)
}

/** What the engine has instead of the state. As JSON it is the state. */
const toHandle = (driver: typeof Driver, entry: string): object =>
  Object.defineProperty({}, 'toJSON', { value: () => read(driver.save(), entry) })

/** Reads an answer of the driver: JSON, or what was wrong. */
function read<Answer>(answer: string, entry: string): Answer {
  if (answer.startsWith('!')) throw parseFault(answer, entry)
  if (!answer.startsWith('?')) return JSON.parse(answer) as Answer
  throw new ModuleFault([
    `its state must survive JSON, because it is a checkpoint; ${answer.slice(1)}: use plain objects, arrays, strings, ` +
      'booleans, null and finite numbers',
  ])
}

/** Something thrown that is no error may be a whole dataset; this much shows what it is. */
const MAX_THROWN_CHARS = 200

type Thrown = { readonly value: string } | Readonly<Record<'name' | 'message' | 'stack', string>>

function parseFault(answer: string, entry: string): ModuleFault {
  const thrown = JSON.parse(answer.slice(1)) as Thrown
  if ('value' in thrown)
    return new ModuleFault([
      `it threw a value that is not an Error: ${thrown.value.slice(0, MAX_THROWN_CHARS)}`,
    ])
  const { name, message, stack } = thrown
  const place = placeIn(entry, stack)
  if (message === '') return new ModuleFault([`it threw an ${name} without a message`], place)
  const advice = ADVICE.get(message)
  const said = advice === undefined ? message : `${message}: ${advice}`
  return new ModuleFault([name === 'Error' ? said : `${name}: ${said}`], place)
}

const GROWING_ARRAYS = 'look for arrays that grow without end, and keep less in memory'

/** What V8 says of a module that ran out of something does not say what to do. */
const ADVICE: ReadonlyMap<string, string> = new Map([
  [
    'Maximum call stack size exceeded',
    'look for a function that calls itself without end, or a state that contains itself',
  ],
  ['Array buffer allocation failed', GROWING_ARRAYS],
  ['ArrayBuffer.prototype.resize: Out of memory', GROWING_ARRAYS],
  ['Invalid string length', 'look for a text that grows without end'],
])

/** The topmost place of the stack in the module itself; none if the engine refused its result. */
function placeIn(entry: string, stack: string): ModuleFault['place'] {
  const [, rest] = stack.split(pathToFileURL(entry).href, 2)
  const [, line, column] = /^:(\d+):(\d+)/.exec(rest ?? '') ?? []
  return line === undefined ? {} : { line: Number(line), column: Number(column) }
}

type Resolve = (specifier: string, from: string) => string

/** Loads a module and what it imports, as far as `resolve` allows. `paths` are those of all. */
async function load(context: Context, entry: string, resolve: Resolve) {
  const loaded = new Map<string, SourceTextModule>()
  const parse = (path: string): SourceTextModule => {
    const module = loaded.get(path) ?? compile(readSource(path), context, path)
    loaded.set(path, module)
    return module
  }
  const module = parse(entry)
  await module.link((specifier, { identifier }) => {
    const path = resolve(specifier, fileURLToPath(identifier))
    try {
      return parse(path)
    } catch (error) {
      if (error instanceof Error && !(error instanceof ModuleFault)) throw error
      // A SyntaxError of the context is as V8 made it: nothing of the module has run.
      const messages =
        error instanceof ModuleFault ? error.messages : [`SyntaxError: ${Object(error).message}`]
      throw new ModuleFault(messages.map(message => `${basename(path)}: ${message}`))
    }
  })
  return { module, paths: [...loaded.keys()].sort() }
}

/** A process makes a dozen contexts for each module: all but the first take the code that was compiled, which is no state. */
function compile(from: Source, context: Context, path: string): SourceTextModule {
  const { source, cachedData } = from
  const identifier = pathToFileURL(path).href
  const module = new SourceTextModule(source, { context, identifier, ...(cachedData && { cachedData }) })
  from.cachedData ??= (module as SourceTextModule & { createCachedData(): Buffer }).createCachedData() // Node's types lack it
  return module
}

type Source = { readonly source: string; readonly bytes: Uint8Array; cachedData?: Buffer }

/** Texts are read once a process, so that no run has another text than the one before. */
const sources = new Map<string, Source>()

function readSource(path: string): Source {
  const known = sources.get(path)
  if (known !== undefined) return known
  if (!/^\.[cm]?[jt]s$/.test(extname(path)))
    throw new ModuleFault([
      'a strategy module imports code alone: write the data into a .ts file, as `export const table = [...]`',
    ])
  const bytes = readFileSync(path)
  const text = bytes.toString('utf8')
  const source = extname(path) === '.ts' ? stripTypes(text) : text
  if (HOST_IMPORT.test(source))
    throw new ModuleFault([
      '`import(` and `import.meta` are not there (nor in comments): write import ... from',
    ])
  const read = { source, bytes }
  sources.set(path, read)
  return read
}

function describeFile(folder: string, path: string): ModuleFile {
  const { bytes } = readSource(path)
  return {
    path: relative(folder, path).split(sep).join('/'),
    bytes: bytes.length,
    sha256: hash('sha256', bytes, 'hex'),
  }
}

// Node answers both with objects from outside of the context. No escape spells a keyword, and no text becomes code.
const HOST_IMPORT =
  /\bimport\b(?:\s|\/\*[\s\S]*?\*\/|\/\/.*)*(?:\(|\.(?:\s|\/\*[\s\S]*?\*\/|\/\/.*)*(?:meta|defer|source)\b)/

function stripTypes(text: string): string {
  try {
    return stripTypeScriptTypes(text)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    const line = /^:(\d+)\n/.exec(error.stack ?? '')?.[1]
    throw new ModuleFault([`SyntaxError: ${error.message}`], line === undefined ? {} : { line: Number(line) })
  }
}

/** Files of a folder alone, also by way of links. */
const resolveInFolder =
  (folder: string): Resolve =>
  (specifier, from) => {
    const path = /^\.\.?\//.test(specifier) ? realPathOf(new URL(specifier, pathToFileURL(from))) : null
    if (path?.startsWith(folder + sep)) return path
    const what =
      path === null && specifier.startsWith('./') ? 'is not there' : 'is not in the folder strategies/'
    throw new ModuleFault([
      `it imports '${specifier}', which ${what}: a strategy module imports files of that folder alone`,
    ])
  }

/** Null if there is no such file, or this process may not see it. */
function realPathOf(url: URL): string | null {
  try {
    return realpathSync(url)
  } catch {
    return null
  }
}

const DRIVER = fileURLToPath(new URL('./driver.ts', import.meta.url))
const STATE = fileURLToPath(new URL('../../core/replay/state.ts', import.meta.url))

async function openDriver(context: Context): Promise<typeof Driver> {
  const { module } = await load(context, DRIVER, () => STATE)
  await module.evaluate()
  return module.namespace as typeof Driver
}
