// Strategy modules that cheat, each in one way. They are refused with a sentence, or what they tried changes nothing.
import { beforeAll, expect, test, vi } from 'vitest'
import type { Night } from '#pipeline/night/compute-snapshot.ts'
import { casesOf } from '#test/support/cases-of.ts'
import { bookOf, type Changes, dailyBars, moduleOf, nightOf, problemsOfNight } from '../night/night-book.ts'

/** A price that goes up and down, so that knowing the next close is worth everything. */
const CLOSES = Array.from({ length: 120 }, (_, i) => 100 + 10 * Math.sin(i * 1.7) + (i % 7))

/** A book of modules by name, and what they may import. */
const cheatBook = (modules: Readonly<Record<string, Changes>>) => ({
  ...bookOf(
    dailyBars(CLOSES),
    Object.values(modules).map((changes, i) => moduleOf(`m${i}`, changes)),
  ),
  'bars/future.ts': 'export const next = () => 1',
  'strategies/lib/half.ts': 'export const half = (value: number): number => value / 2',
  'strategies/lib/broken.ts': 'export const half =',
  'strategies/lib/broken.js': 'export const half =',
  'strategies/lib/table.json': '[1, 2]',
  'strategies/lib/load.ts': `export const load = () => import('node:fs')`,
})

/** Decides by the next close, if `next(bar)` knows it. */
const PEEK = `onBar: (state, bar, position) => {
  const close = next(bar)
  if (close === undefined) return null
  return close > bar.c ? { act: 'long', stop: bar.c / 2 } : { act: 'short', stop: bar.c * 2 }
},`

const READ_BARS = `import { readFileSync } from 'node:fs'
  const closes = readFileSync(new URL('../bars/BTCUSDT-PERP/1d.csv', import.meta.url), 'utf8').split('\\n').map(row => Number(row.split(',')[4]))
  const next = bar => closes[closes.indexOf(bar.c) + 1]`

const outsideOf = (name: string): string =>
  `: it imports '${name}', which is not in the folder strategies/: a strategy module imports files of that folder alone`

const NO_HOST_IMPORT = /^: `import\(` and `import\.meta` are not there/
const VERSION =
  /^: strategy m\d+: version must be a text of 1 to 32 letters, digits or \. _ \+ - such as '1\.2', and it is not: correct/
const AT_FIRST_BAR = String.raw`^:\d+:\d+: at the bar of 2024-01-01T00:00:00Z: `

/** Each way to read the clock or chance, of which a module may catch the refusal. */
const CLOCK_AND_CHANCE = [
  'Date.now()',
  'new Date()',
  'Date()',
  'new (class extends Date {})()',
  'new (new Date(0).constructor)()',
  'Math.random()',
]

/** What a module does, and what the operator reads after the name of its file. */
const REFUSED: Readonly<Record<string, readonly [Changes, string | RegExp]>> = {
  ...Object.fromEntries(
    casesOf<[string, Changes, string | RegExp]>`
would have a Sharpe ratio of 20 by the place of its file -> ${{ head: READ_BARS, body: PEEK }} -> ${NO_HOST_IMPORT}
would have a Sharpe ratio of 20 by node:fs -> ${{ head: READ_BARS.replace('import.meta.url', '"file:///"'), body: PEEK }} -> ${outsideOf('node:fs')}
imports the bars from outside of the folder -> ${{ head: `import { next } from '../bars/future.ts'`, body: PEEK }} -> ${outsideOf('../bars/future.ts')}
imports a file that is not there -> ${{ head: `import { half } from './lib/other.ts'` }} -> ${/it imports '\.\/lib\/other\.ts', which is not there/}
imports a name that is not there -> ${{ head: `import { third } from './lib/half.ts'` }} -> ${/^: SyntaxError: .*'third'/}
imports a file that does not parse -> ${{ head: `import { half } from './lib/broken.ts'` }} -> ${/^: broken\.ts: SyntaxError: /}
imports a table of JSON -> ${{ head: `import table from './lib/table.json'` }} -> ${/^: table\.json: a strategy module imports code alone: write the data into a \.ts file/}
imports JavaScript that does not parse -> ${{ head: `import { half } from './lib/broken.js'` }} -> ${/^: broken\.js: SyntaxError: /}
imports dynamically -> ${{ head: `const load = () => import('node:fs')` }} -> ${NO_HOST_IMPORT}
imports dynamically with a comment in between -> ${{ head: `const load = () => import /* a */ // b\n (/**/'node:fs')` }} -> ${NO_HOST_IMPORT}
imports dynamically in a helper -> ${{ head: `import { load } from './lib/load.ts'` }} -> ${/: `import\(` and/}
reads the clock -> ${{ body: 'onBar: () => { Date.now() },' }} -> ${new RegExp(`${AT_FIRST_BAR}the clock is not there`)}
reads chance -> ${{ body: 'onBar: () => { Math.random() },' }} -> ${new RegExp(`${AT_FIRST_BAR}chance is not there`)}
keeps memory beside its state -> ${{
      head: 'let bars = 0',
      body: `onBar: (state, bar) => ++bars % 50 === 0 ? { act: 'long', stop: bar.c / 2 } : null,`,
    }} -> ${/^: with all bars in reach it decides otherwise .* keeps memory outside of its state.*; the first bar that differs is that of 2024-\d\d-\d\dT00:00:00Z$/}
counts its bars, so that the history depends on where it begins -> ${{
      body: `init: () => ({ bars: 0 }),
        onBar: (state, bar, position) => ++state.bars % 10 === 0
          ? position === null ? { act: 'long', stop: bar.c / 2 } : { act: 'flat', why: 'time' } : null,`,
    }} -> ${/^: begun at 2024-\S+, it decides otherwise even after 0 bars; the first bar that differs is that of 2024-\S+: raise memoryBars/}
waits for ever at its top level -> ${{ head: 'await new Promise(() => {})' }} -> : it waits at its top level for something that never comes
throws where every object has a toJSON -> ${{
      head: 'Object.prototype.toJSON = () => undefined',
      body: `onBar: () => { throw new (class extends Error {})('mine') },`,
    }} -> ${new RegExp(`${AT_FIRST_BAR}mine$`)}
throws an error that has a toJSON -> ${{ body: `onBar: () => { throw new (class extends Error { toJSON() {} })('mine') },` }} -> ${new RegExp(`${AT_FIRST_BAR}mine$`)}
has a state without JSON, by a toJSON of every object -> ${{ head: 'Object.prototype.toJSON = () => undefined', body: 'onBar: () => null,' }} -> ${/^: its state must survive JSON, .*; its JSON is undefined: use plain/}
has a state that is infinite -> ${{ body: 'init: () => ({ sum: 0 }), onBar: (state, bar) => { state.sum = bar.c / 0; return null },' }} -> ${/: its state must survive JSON, because it is a checkpoint; the state\.sum is Infinity: use/}
has a version that moves the cursor -> ${{ body: `version: '1\\n\\x1b[31m',` }} -> ${VERSION}`.map(
      ([name, ...each]) => [name, each],
    ),
  ),
  ...Object.fromEntries(
    ['zod', '#core/calendar.ts'].map(name => [
      `imports ${name}`,
      [{ head: `import * as all from '${name}'` }, outsideOf(name)],
    ]),
  ),
}

/**
 * Walks everything that a module can get hold of, and throws if it is the real clock or chance, or if the end of a chain of prototypes is not its own
 * Object.prototype: an object of Node's own leads to Node's `Function`, and that to the file system.
 */
const WALK = `
  const found = []
  const visited = new Set()
  const isSource = f =>
    (f !== Date && Reflect.getOwnPropertyDescriptor(f, 'prototype')?.value === Date.prototype) ||
    /^function (now|random)\\(\\) \\{ \\[native code/.test(Function.prototype.toString.call(f))
  const walk = (value, path) => {
    if (value === null || (typeof value !== 'object' && typeof value !== 'function') || visited.has(value)) return
    visited.add(value)
    let top = value
    for (let up = value; up !== null; up = Object.getPrototypeOf(up)) top = up
    const isBare = top === value // without a prototype
    if (!isBare && top !== Object.prototype) throw new TypeError('foreign: ' + path)
    if (typeof value === 'function' && isSource(value)) throw new TypeError('clock or chance: ' + path)
    walk(Object.getPrototypeOf(value), path + '.__proto__')
    for (const key of Reflect.ownKeys(value)) {
      const { value: member, get, set } = Object.getOwnPropertyDescriptor(value, key)
      for (const [name, each] of Object.entries({ member, get, set })) walk(each, path + '.' + String(key) + ':' + name)
    }
  }
  let isWalking = false
  const walkAll = () => { isWalking = true; while (found.length > 0) walk(...found.pop()); isWalking = false }
  const catches = (value, name) => { if (!isWalking) found[found.length] = [value, name] }
  const trap = (name, work) => { try { work() } catch (error) { found.push([error, name]) } }
  found.push([globalThis, 'globalThis'], [Promise.resolve(), 'promise'], [(async () => {})(), 'async'])
  Promise.reject(1).catch(() => {})
  trap('null', () => null.x)
  trap('code', () => Function('return process'))
  trap('code of a string', () => (async () => {}).constructor('return process'))
  try { Error.prepareStackTrace = (error, sites) => { found.push([sites, 'sites']); return 'stack' } } catch {}
  let near = 0 // levels that are left of those next to the end of the stack, from which dive() returns first
  const dive = work => { trap('overflow', () => dive(work)); if (near-- > 0) trap(String(work), work) }
  const tries = [
    () => new Error('deep').stack,
    () => Function('return process'),
    () => JSON.stringify({ toJSON() { return null.x } }),
    () => new Date(),
    () => { Date.zz; Date.zz = 1; delete Date.zz; 'zz' in Date; Object.keys(Date); Object.getPrototypeOf(Date) },
    () => new (class extends Date {})(0),
    () => Date(),
    () => Math.random(),
    () => console.log({ toJSON() { return new Error('x').stack } }),
    () => Object.keys(new Proxy({}, { ownKeys() { throw new Error('y') } })),
    () => { Promise.reject(new Error('z')).catch(() => {}) },
    () => 'x'.replace(/x/, () => new Error('r').stack),
  ]`
const WALKING = `
  init() { found.push([arguments, 'arguments'], [this, 'this']); tries.forEach(work => { near = 500; dive(work); trap(String(work), work) }); walkAll(); return {} },
  onBar() {
    for (const given of [...arguments]) found.push([given, 'argument'])
    trap('caller', () => arguments.callee)
    trap('own', () => new Error('x').stack)
    walkAll()
    return null
  },`

/** What is called if a trap or an option is looked up on Object.prototype; it keeps all that it gets. */
const HOOKS = {
  functions:
    '{ value(...given) { catches(this, name); catches(given, name); return this }, writable: true, configurable: true }',
  getters: '{ get() { catches(this, name) }, set(value) { catches(value, name) }, configurable: true }',
}

const hookAll = (hook: string): string => `
  const options = 'value writable enumerable configurable then toJSON cause signal timeout filename identifier context ' +
    'importModuleDynamically initializeImportMeta cachedData breakOnSigint displayErrors microtaskMode contextName ' +
    'lineOffset columnOffset stack name message code errors stackTraceLimit prepareStackTrace maxByteLength side domain'
  for (const name of [...Object.getOwnPropertyNames(Reflect), ...options.split(' ')]) {
    Reflect.defineProperty(Object.prototype, name, Object.assign(Object.create(null), ${hook}))
  }`

/** Each way to get between a promise of the module and Node, which waits for it. */
const TAKE_PROMISES = [
  'Promise.prototype.then = function (...given) { found.push([given, "then"]) }',
  `Object.defineProperty(Promise.prototype, 'then', { get() { found.push([this, 'promise']); return (...given) => found.push([given, 'then']) } })`,
  `const own = Promise
    Object.defineProperty(Promise.prototype, 'constructor', { get() {
      Object.defineProperty(this, 'then', { value: (...given) => found.push([given, 'then']) })
      return own
    } })`,
  `Object.defineProperty(Promise, Symbol.species, { value: function (work) {
      found.push([work, 'work'])
      return new Promise((...given) => { found.push([given, 'given']); work(...given) })
    } })`,
]

/** A module that walks after it has changed what there is. */
const walking = (change: string): Changes => ({ head: WALK + change, body: WALKING })

const GLOBALS =
  'process require fetch setTimeout setInterval setImmediate queueMicrotask performance crypto Buffer WebSocket ' +
  'XMLHttpRequest Worker SharedArrayBuffer Atomics WebAssembly WeakRef FinalizationRegistry Intl structuredClone eval ' +
  'navigator Temporal gc'

const thereOf = (name: string): string =>
  `typeof ${name} !== 'undefined' || '${name}' in globalThis ? '${name}' : ''`

const THROW_ALL = 'if (all.length > 0) throw new Error(all.join())'

/** What a module tries. It throws if it gets anything. */
const VAIN: Readonly<Record<string, Changes>> = {
  [`looks for ${GLOBALS}`]: {
    body: `init: () => { const all = [${GLOBALS.split(' ').map(thereOf)}].filter(name => name !== ''); ${THROW_ALL}; return {} },`,
  },
  'tries each way to read the clock or chance': {
    head: `const all = [${CLOCK_AND_CHANCE.map(way => `() => ${way}`)}].filter(way => { try { way(); return true } catch (error) { return !/^(the clock|chance) is not there: /.test(error.message) } })
      ${THROW_ALL}`,
  },
  'turns text into code': {
    head: `const all = []
      for (const f of [function () {}, function* () {}, async function () {}, async function* () {}]) {
        try { f.constructor('return this'); all.push(String(f)) } catch {}
      }
      ${THROW_ALL}`,
  },
  'takes the clock by a trap that Object.prototype has': {
    head: `let Real
      Object.prototype.get = target => { Real = target }
      Date.zz
      delete Object.prototype.get
      if (Real !== undefined) throw new Error('it is ' + new Real())`,
  },
  'walks to objects from outside of its context, by arguments, errors, promises and overflow': walking(''),
  ...Object.fromEntries(
    Object.entries(HOOKS).map(([name, hook]) => [
      `walks to them by names of traps and options on Object.prototype, as ${name}`,
      walking(hookAll(hook)),
    ]),
  ),
  'takes a function of Node that waits for it, by each way to change promises': walking(
    `${TAKE_PROMISES.map(change => `\ntry { ${change} } catch {}`).join('')}\nawait 1`,
  ),
}

/** Modules that are sound for the proof, by what they do: their histories show what they got. */
const SOUND: Readonly<Record<string, Changes>> = {
  honest: { body: `onBar: (s, b, position) => position === null ? { act: 'long', stop: 50 } : null,` },
  changing: {
    body: `onBar: (state, bar, position) => {
      bar.t = 0; bar.c = 1e9; bar.h = 1e9
      if (position !== null) { position.stop = 1; position.side = 'short' }
      return position === null ? { act: 'long', stop: 50 } : null
    },`,
  },
  // It catches every number that passes through its context, and looks for one that it has not been shown.
  catching: {
    head: `const seen = new Set(), caught = []
      for (const proto of [Object.prototype, Array.prototype, Float64Array.prototype, Function.prototype, Number.prototype]) {
        for (const key of ['t', 'o', 'h', 'l', 'c', 'v', 'bars', 'next']) {
          Object.defineProperty(proto, key, { get() { caught.push(this); return undefined }, set(value) { caught.push(value) }, configurable: true })
        }
      }
      Array.prototype[Symbol.iterator] = function* () { caught.push(this) }
      const next = bar => {
        const value = bar[1] ?? bar.next ?? Object.getPrototypeOf(bar).bars ?? bar['bars']
        for (let i = 0; i < caught.length; i++) if (typeof caught[i] === 'number' && !seen.has(caught[i])) return caught[i]
        return value
      }`,
    body: PEEK,
  },
  remembering: {
    head: `globalThis.closes ??= []
      const next = bar => { const known = globalThis.closes; const i = known.indexOf(bar.c); known.push(bar.c); return i < 0 ? undefined : known[i + 1] }`,
    body: PEEK,
  },
  helped: {
    head: `import { half } from './lib/half.ts'`,
    body: `onBar: (s, bar, position) => position === null ? { act: 'long', stop: half(bar.c) } : null,`,
  },
  versioned: { body: `version: 'x'.repeat(30) + '_+',` },
}

const DEEP = {
  head: `let depth = 0
    const dive = () => { depth++; dive() }`,
  body: `onBar: (state, bar, position) => {
    depth = 0
    try { dive() } catch {}
    return depth % 2 === 0 ? { act: 'long', stop: bar.c / 2 } : { act: 'short', stop: bar.c * 2 }
  },`,
}

const CHEATS = {
  ...Object.fromEntries(Object.entries(REFUSED).map(([what, [changes]]) => [what, changes])),
  ...VAIN,
  DEEP,
}

let problems: readonly string[]
let night: Night

beforeAll(async () => {
  const printed = vi.spyOn(process.stderr, 'write').mockReturnValue(true) // by modules
  problems = await problemsOfNight(cheatBook(CHEATS))
  night = await nightOf(cheatBook(SOUND))
  printed.mockRestore()
})

/** What the operator reads of a module, after the name of its file. */
function saidOf(what: string): string[] {
  const file = `strategies/m${Object.keys(CHEATS).indexOf(what)}.ts`
  return problems.filter(problem => problem.startsWith(file)).map(problem => problem.slice(file.length))
}

const historyOf = (name: string) => night.snapshot.strategies[Object.keys(SOUND).indexOf(name)]!

test.each(Object.entries(REFUSED))(
  'a dishonest module is refused with the reason: it %s',
  (what, [, says]) => {
    expect(saidOf(what)).toEqual([typeof says === 'string' ? says : expect.stringMatching(says)])
  },
)

test.each(Object.keys(VAIN))('a dishonest module gets nothing from what it tries: it %s', what => {
  expect(saidOf(what)).toEqual([])
})

test('a module that goes by how deep its stack is decides the same, or is refused', () => {
  for (const problem of saidOf('DEEP')) expect(problem).toMatch(/decides by chance|decides otherwise/)
})

test('a module cannot read the bars that follow through tricks with prototypes, proxies and getters', () => {
  expect(historyOf('catching').trades.entry_time).toHaveLength(0)
})

test('a module that remembers an earlier run in a global finds nothing there', () => {
  expect(historyOf('remembering').trades.entry_time).toHaveLength(0)
})

test('a module that changes what it is given changes a copy', () => {
  expect(historyOf('changing').daily).toEqual(historyOf('honest').daily)
  expect(historyOf('honest').daily.values.some(value => value !== 0)).toBe(true)
})

test('a module may import a helper of its own folder', () => {
  expect(historyOf('helped').daily).toEqual(historyOf('versioned').daily)
})
