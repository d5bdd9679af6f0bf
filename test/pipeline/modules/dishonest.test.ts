// Strategy modules that cheat, each in one way. They are refused with a sentence, or what they tried changes nothing.
import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readBook } from '#pipeline/book/read-book.ts'
import { createStepper } from '#pipeline/live/stepper.ts'
import { temporaryFolder, writeFiles } from '#test/support/temporary-folder.ts'
import { atEnd } from '../../support/ends.ts'
import { aModule, catalogue, dailyBars, moduleText, nightOf, problemsOfNight } from '../night/night-book.ts'

/** A price that goes up and down, so that knowing the next close is worth everything. */
const CLOSES = Array.from({ length: 120 }, (_, i) => 100 + 10 * Math.sin(i * 1.7) + (i % 7))
const BARS = { 'bars/BTCUSDT-PERP/1d.csv': dailyBars(CLOSES) }

const bookOf = (text: string, more: Readonly<Record<string, string>> = {}) => ({
  ...BARS,
  'strategies/oak.ts': text,
  'catalogue.yaml': catalogue([aModule('oak')]),
  ...more,
})

const problemsOf = (head: string, body = '', more: Readonly<Record<string, string>> = {}) =>
  problemsOfNight(bookOf(moduleText('oak', { head, body }), more))

/** Decides by the next close, if `next(bar)` knows it. */
const PEEK = `onBar: (state, bar, position) => {
  const close = next(bar)
  if (close === undefined) return null
  return close > bar.c ? { act: 'long', stop: bar.c / 2 } : { act: 'short', stop: bar.c * 2 }
},`

const outsideOf = (name: string) =>
  `strategies/oak.ts: it imports '${name}', which is not in the folder strategies/: a strategy module imports files of that folder alone`

describe('a dishonest module', () => {
  test('that reads the bars of its own book through node:fs, and would have a Sharpe ratio of 20, is refused', async () => {
    const head = `import { readFileSync } from 'node:fs'
      const closes = readFileSync(new URL('../bars/BTCUSDT-PERP/1d.csv', import.meta.url), 'utf8').split('\\n').map(row => Number(row.split(',')[4]))
      const next = bar => closes[closes.indexOf(bar.c) + 1]`
    expect(await problemsOf(head, PEEK)).toEqual([
      expect.stringMatching(/`import\(` and `import\.meta` are not there/),
    ])
    expect(await problemsOf(head.replace('import.meta.url', '"file:///"'), PEEK)).toEqual([
      outsideOf('node:fs'),
    ])
  })

  test.each([
    'fs',
    'node:sqlite',
    'node:worker_threads',
    'node:process',
    'node:http',
    'zod',
    '#core/calendar.ts',
  ])('that imports %s is refused', async name => {
    expect(await problemsOf(`import * as all from '${name}'`)).toEqual([outsideOf(name)])
  })

  test('that imports the bars as a module, from outside of the folder or by a link in it, is refused', async () => {
    const outside = { 'bars/future.ts': 'export const next = () => 1' }
    expect(await problemsOf(`import { next } from '../bars/future.ts'`, PEEK, outside)).toEqual([
      outsideOf('../bars/future.ts'),
    ])
    const folder = await temporaryFolder()
    await writeFiles(folder, bookOf(moduleText('oak', { head: `import { next } from './link.ts'` }), outside))
    await symlink(join(folder, 'bars/future.ts'), join(folder, 'strategies/link.ts'))
    const book = await readBook(folder)
    const stepper = createStepper(book, { threads: 1, elapsedMs: () => 0 })
    atEnd(stepper.close)
    const { bars } = book.bars.get('BTCUSDT-PERP/1d')!
    await expect(stepper.version({ entry: book.strategies[0]!, funding: null, bars })).rejects.toThrow(
      outsideOf('./link.ts'),
    )
  })

  test('that imports a helper of its own folder is honest', async () => {
    const helper = { 'strategies/lib/half.ts': 'export const half = (value: number): number => value / 2' }
    expect(await problemsOf(`import { half } from './lib/half.ts'`, '', helper)).toEqual([])
    expect(await problemsOf(`import { half } from './lib/other.ts'`, '', helper)).toEqual([
      expect.stringContaining(`it imports './lib/other.ts', which is not there`),
    ])
    expect(await problemsOf(`import { third } from './lib/half.ts'`, '', helper)).toEqual([
      expect.stringMatching(/^strategies\/oak\.ts: SyntaxError: .*'third'/),
    ])
    const broken = { 'strategies/lib/half.ts': 'export const half =' }
    expect(await problemsOf(`import { half } from './lib/half.ts'`, '', broken)).toEqual([
      expect.stringMatching(/^strategies\/oak\.ts: half\.ts: SyntaxError: /),
    ])
  })

  test.each([
    ['plainly', `import('node:fs')`],
    ['with a comment in between', `import /* a */ // b\n (/**/'node:fs')`],
    ['in a helper', ''],
  ])('that imports dynamically, %s, is refused', async (_, call) => {
    const helper = { 'strategies/helper.ts': `export const load = () => import('node:fs')` }
    const head = call === '' ? `import { load } from './helper.ts'` : `const load = () => ${call}`
    expect(await problemsOf(head, '', helper)).toEqual([
      expect.stringContaining('`import(` and `import.meta` are not there'),
    ])
  })

  test.each([
    ['the clock', 'Date.now()'],
    ['the clock', 'new Date()'],
    ['the clock', 'Date()'],
    ['the clock', 'new (class extends Date {})()'],
    ['the clock', 'new (new Date(0).constructor)()'],
    ['chance', 'Math.random()'],
  ])('that reads %s by %s is refused with its bar and its line', async (what, call) => {
    expect(await problemsOf('', `onBar: () => { ${call} },`)).toEqual([
      expect.stringMatching(
        new RegExp(
          String.raw`^strategies/oak\.ts:\d+:\d+: at the bar of 2024-01-01T00:00:00Z: ${what} is not there`,
        ),
      ),
    ])
  })

  test.each([
    'process',
    'require',
    'fetch',
    'setTimeout',
    'setInterval',
    'setImmediate',
    'queueMicrotask',
    'performance',
    'crypto',
    'Buffer',
    'WebSocket',
    'XMLHttpRequest',
    'Worker',
    'SharedArrayBuffer',
    'Atomics',
    'WebAssembly',
    'WeakRef',
    'FinalizationRegistry',
    'Intl',
    'structuredClone',
    'eval',
    'navigator',
    'Temporal',
    'gc',
  ])('has no %s', async name => {
    const uses = `init: () => { if (typeof ${name} !== 'undefined' || '${name}' in globalThis) throw new Error('it is there'); return {} },`
    expect(await problemsOf('', uses)).toEqual([])
  })

  test('cannot turn text into code', async () => {
    const tries = `const made = []
      for (const f of [function () {}, function* () {}, async function () {}, async function* () {}]) {
        try { f.constructor('return this'); made.push(String(f)) } catch {}
      }
      if (made.length > 0) throw new Error(made.join())`
    expect(await problemsOf(tries)).toEqual([])
  })

  test('reaches no object from outside of its context, by no argument, error, promise or overflow', async () => {
    expect(await problemsOf(WALK, WALKING)).toEqual([])
  })

  test('does not get the clock by a trap that Object.prototype has', async () => {
    const steals = `let Real
      Object.prototype.get = target => { Real = target }
      Date.zz
      delete Object.prototype.get
      if (Real !== undefined) throw new Error('it is ' + new Real())`
    expect(await problemsOf(steals)).toEqual([])
  })

  test.each(Object.entries(HOOKS))(
    'reaches neither the clock nor chance by names of traps and options on Object.prototype, as %s',
    async (_, hook) => {
      expect(await problemsOf(WALK + hookAll(hook), WALKING)).toEqual([])
    },
  )

  test.each(Object.entries(PROMISES))(
    'reaches no function of Node that waits for it, by %s',
    async (_, change) => {
      expect(await problemsOf(`${WALK}\ntry { ${change} } catch {}\nawait 1`, WALKING)).toEqual([])
    },
  )

  test('cannot read the bars that follow through tricks with prototypes, proxies and getters', async () => {
    // It catches every number that passes through its context, and looks for one that it has not been shown.
    const head = `const seen = new Set(), caught = []
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
      }`
    const { snapshot } = await nightOf(bookOf(moduleText('oak', { head, body: PEEK })))
    expect(snapshot.strategies[0]!.trades.entry_time).toHaveLength(0)
  })

  test('that changes what it is given changes a copy', async () => {
    const changes = `onBar: (state, bar, position) => {
      bar.t = 0; bar.c = 1e9; bar.h = 1e9
      if (position !== null) { position.stop = 1; position.side = 'short' }
      return position === null ? { act: 'long', stop: 50 } : null
    },`
    const [honest, tricky] = await Promise.all(
      ['', changes].map(body =>
        nightOf(
          bookOf(
            moduleText('oak', {
              body:
                body || `onBar: (s, b, position) => position === null ? { act: 'long', stop: 50 } : null,`,
            }),
          ),
        ),
      ),
    )
    expect(tricky!.snapshot.strategies[0]!.daily).toEqual(honest!.snapshot.strategies[0]!.daily)
  })

  test('that remembers an earlier run in a global finds nothing there', async () => {
    const head = `globalThis.closes ??= []
      const next = bar => { const known = globalThis.closes; const i = known.indexOf(bar.c); known.push(bar.c); return i < 0 ? undefined : known[i + 1] }`
    const { snapshot } = await nightOf(bookOf(moduleText('oak', { head, body: PEEK })))
    expect(snapshot.strategies[0]!.trades.entry_time).toHaveLength(0)
  })

  test('that keeps memory beside its state is refused, with the first bar that differs', async () => {
    const head = 'let bars = 0'
    const body = `onBar: (state, bar) => ++bars % 50 === 0 ? { act: 'long', stop: bar.c / 2 } : null,`
    expect(await problemsOf(head, body)).toEqual([
      expect.stringMatching(
        /^strategies\/oak\.ts: with all bars in reach it decides otherwise .* keeps memory outside of its state.*; the first bar that differs is that of 2024-\d\d-\d\dT00:00:00Z$/,
      ),
    ])
  })

  test('that counts its bars, so that the history depends on where it begins, is refused', async () => {
    const body = `init: () => ({ bars: 0 }),
      onBar: (state, bar, position) => ++state.bars % 10 === 0
        ? position === null ? { act: 'long', stop: bar.c / 2 } : { act: 'flat', why: 'time' } : null,`
    expect(await problemsOf('', body)).toEqual([
      expect.stringMatching(
        /^strategies\/oak\.ts: begun at 2024-\S+, it decides otherwise even after 0 bars; the first bar that differs is that of 2024-\S+: raise memoryBars/,
      ),
    ])
  })

  test('that goes by how deep its stack is decides the same, or is refused', async () => {
    const head = `let depth = 0
      const dive = () => { depth++; dive() }`
    const body = `onBar: (state, bar, position) => {
      depth = 0
      try { dive() } catch {}
      return depth % 2 === 0 ? { act: 'long', stop: bar.c / 2 } : { act: 'short', stop: bar.c * 2 }
    },`
    for (const problem of await problemsOf(head, body))
      expect(problem).toMatch(/decides by chance|decides otherwise/)
  })

  test('that leaves a rejected promise behind, or waits for ever, is refused with its line', async () => {
    expect(await problemsOf('', `init: () => { Promise.reject(new Error('lost')); return {} },`)).toEqual([
      expect.stringMatching(/^strategies\/oak\.ts:\d+:\d+: lost$/),
    ])
    expect(await problemsOf('await new Promise(() => {})')).toEqual([
      'strategies/oak.ts: it waits at its top level for something that never comes',
    ])
  })

  test.each([
    ['every object', 'Object.prototype.toJSON = () => undefined', ''],
    ['its errors', '', 'toJSON() {}'],
  ])('that throws, with a toJSON of %s, is refused with its bar and its line', async (_, head, member) => {
    const body = `onBar: () => { throw new (class extends Error { ${member} })('mine') },`
    expect(await problemsOf(head, body)).toEqual([
      expect.stringMatching(/^strategies\/oak\.ts:\d+:\d+: at the bar of 2024-01-01T00:00:00Z: mine$/),
    ])
  })

  test('whose state has no JSON, by a toJSON of every object, is refused with a sentence', async () => {
    expect(await problemsOf('Object.prototype.toJSON = () => undefined', 'onBar: () => null,')).toEqual([
      expect.stringMatching(
        /^strategies\/oak\.ts: its state must survive JSON, .*; its JSON is undefined: use plain/,
      ),
    ])
  })

  test('that takes all memory ends its process alone', async () => {
    const body = `init: () => { const all = []; for (;;) all.push(new Array(1e6).fill(1)) },`
    const problems = await problemsOfNight({
      ...bookOf(moduleText('oak', { body })),
      'strategies/elm.ts': moduleText('elm', { body: 'onBar: () => 7,' }),
      'catalogue.yaml': catalogue([aModule('oak'), aModule('elm')]),
    })
    expect(problems).toEqual([
      expect.stringMatching(
        /^strategies\/oak\.ts: it needed more than 512 MB for its objects or 3 GB with its arrays, and was ended: look for/,
      ),
      expect.stringMatching(/^strategies\/elm\.ts: .* it decided 7/),
    ])
  })
})

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
  const dive = work => { trap('overflow', () => dive(work)); trap(String(work), work) }
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
  init() { found.push([arguments, 'arguments'], [this, 'this']); tries.forEach(dive); walkAll(); return {} },
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

/** Ways to get between a promise of the module and Node, which waits for it. */
const PROMISES = {
  'another then': 'Promise.prototype.then = function (...given) { found.push([given, "then"]) }',
  'a getter of then': `Object.defineProperty(Promise.prototype, 'then', { get() { found.push([this, 'promise']); return (...given) => found.push([given, 'then']) } })`,
  'the promise itself, by its constructor': `const own = Promise
    Object.defineProperty(Promise.prototype, 'constructor', { get() {
      Object.defineProperty(this, 'then', { value: (...given) => found.push([given, 'then']) })
      return own
    } })`,
  'another species': `Object.defineProperty(Promise, Symbol.species, { value: function (work) {
      found.push([work, 'work'])
      return new Promise((...given) => { found.push([given, 'given']); work(...given) })
    } })`,
}
