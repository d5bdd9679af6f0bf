// Runs inside the context of a strategy module, before it, and makes all calls of it. Only numbers and text cross the
// border of the context: any object of Node's would lead a module to everything else, by way of its constructor.
import { describePlainJsonFault } from '#core/replay/state.ts'
import type { Position, Side, Strategy } from '#core/replay/strategy.ts'

// Taken before the module can replace them.
const { parse, stringify } = JSON
const { construct, deleteProperty, defineProperty } = Reflect
const toText = String

/** What a module may use of the language: no clock, chance, locale, shared memory, or trace of the garbage collector. */
const GLOBALS = new Set(
  (
    'Object Function Array Number parseFloat parseInt Infinity NaN undefined Boolean String Symbol Date Promise RegExp ' +
    'Error AggregateError EvalError RangeError ReferenceError SyntaxError TypeError URIError SuppressedError globalThis ' +
    'JSON Math ArrayBuffer Uint8Array Int8Array Uint16Array Int16Array Uint32Array Int32Array BigUint64Array ' +
    'BigInt64Array Uint8ClampedArray Float16Array Float32Array Float64Array DataView Map BigInt Set Iterator WeakMap ' +
    'WeakSet Proxy Reflect decodeURI decodeURIComponent encodeURI encodeURIComponent escape unescape isFinite isNaN ' +
    'DisposableStack AsyncDisposableStack'
  ).split(' '),
)

const MAX_PRINTED_CHARS = 65_536

let printed = ''

function print(...values: readonly unknown[]): void {
  if (printed.length > MAX_PRINTED_CHARS) return
  for (const value of values) printed += `${typeof value === 'object' ? stringify(value) : toText(value)} `
  printed += '\n'
}

/**
 * Removes what a module must not have. Without a trace, errors have no stack: Node's own code would make it, and an
 * error thrown in there would be an object from outside of the context.
 */
export function confine(isTraced: boolean): void {
  for (const name of Object.getOwnPropertyNames(globalThis)) {
    if (!GLOBALS.has(name)) deleteProperty(globalThis, name)
  }
  const lock = (target: object, key: string, value: unknown): void =>
    void defineProperty(target, key, { value, writable: false, configurable: false })
  const refuse = (what: string) => () => {
    throw new Error(`${what} is not there: a strategy decides from its bars and its state alone`)
  }
  const refuseClock = refuse('the clock')
  const Timed = Date
  function Dated(...given: unknown[]): unknown {
    return new.target === undefined || given.length === 0
      ? refuseClock()
      : construct(Timed, given, new.target)
  }
  lock(Dated, 'prototype', Timed.prototype)
  lock(Dated, 'UTC', Timed.UTC)
  lock(Dated, 'parse', Timed.parse)
  lock(Dated, 'now', refuseClock)
  lock(Dated, 'name', 'Date')
  lock(Timed.prototype, 'constructor', Dated)
  lock(globalThis, 'Date', Dated)
  lock(Math, 'random', refuse('chance'))
  // Node waits for the end of a module by its promise: another `then` would get functions of Node's.
  lock(Promise.prototype, 'then', Promise.prototype.then)
  lock(Promise.prototype, 'constructor', Promise)
  lock(globalThis, 'console', { log: print, info: print, debug: print, warn: print, error: print })
  if (isTraced) return
  lock(Error, 'stackTraceLimit', undefined)
  lock(Error, 'captureStackTrace', undefined)
}

let strategy: Strategy
let state: unknown

// An answer that begins with FAULT is what the module threw; one with UNFIT says why its state is not plain.
const FAULT = '!'
const UNFIT = '?'

/** As JSON, whatever `toJSON` the module gave to Object.prototype. */
const toJson = (fields: object): string => stringify({ __proto__: null, ...fields })

/** What was thrown, as text: `{name, message, stack}` of an error, `{value}` of anything else. */
export function describe(thrown: unknown): string {
  try {
    if (!(thrown instanceof Error))
      return FAULT + toJson({ value: toText(typeof thrown === 'object' ? stringify(thrown) : thrown) })
    const { name, message, stack } = thrown
    return FAULT + toJson({ name: toText(name), message: toText(message), stack: toText(stack) })
  } catch {
    return `${FAULT}{"value":"something that has no text"}`
  }
}

/** Takes the strategy from the module, and answers what it declares of itself. */
export function adopt(module: { readonly strategy?: Strategy }): string {
  try {
    const given = module.strategy
    if (typeof given?.onBar !== 'function' || typeof given.init !== 'function') return 'null'
    strategy = given
    const { id, version, timeframeMs, warmupBars, memoryBars, baseRisk } = given
    return toJson({ id, version, timeframeMs, warmupBars, memoryBars, baseRisk })
  } catch (error) {
    return describe(error)
  }
}

export function init(): string {
  try {
    state = strategy.init()
    const fault = describePlainJsonFault(state)
    return fault === null ? '' : UNFIT + fault
  } catch (error) {
    return describe(error)
  }
}

export function load(text: string): void {
  state = parse(text)
}

export function save(): string {
  try {
    const fault = describePlainJsonFault(state)
    return fault === null ? (stringify(state) ?? `${UNFIT}its JSON is undefined`) : UNFIT + fault
  } catch (error) {
    return describe(error)
  }
}

/** The decision on one bar as JSON, or null. The module gets copies of what is known at its close, and nothing else. */
export function decide(
  t: number,
  o: number,
  h: number,
  l: number,
  c: number,
  v: number,
  side: Side | null,
  entry_time: number,
  entry_price: number,
  stop: number,
): string | null {
  try {
    const position: Position | null = side === null ? null : { side, entry_time, entry_price, stop }
    const decision = strategy.onBar(state, { t, o, h, l, c, v }, position)
    return decision === null ? null : (stringify(decision) ?? '')
  } catch (error) {
    return describe(error)
  }
}

/** What the module printed since the last call. */
export function takePrinted(): string {
  const text = printed
  printed = ''
  return text
}
