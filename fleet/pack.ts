// Values of a computation as bytes: JSON for their structure, and numbers of arrays as they are in memory. Equal values have
// equal bytes, so a digest compares them.

/** The arrays that values of a computation have; others are not packed. */
const ARRAYS = { Float64Array, Uint8Array, Uint32Array, Int32Array }

/** What JSON cannot express has this key; no value of ours does. */
const MARK = '$pack'

/** Packs what JSON has, maps, numbers that are not finite, and arrays of numbers. A field that is undefined is left out. */
export function pack(value: unknown): Uint8Array {
  const tail: Uint8Array[] = []
  let at = 0
  const text = JSON.stringify(value, function (this: Readonly<Record<string, unknown>>, key) {
    const each = this[key] // before `toJSON`, which a Buffer has
    if (typeof each === 'number')
      return Number.isFinite(each) && !Object.is(each, -0)
        ? each
        : { [MARK]: 'number', of: Object.is(each, -0) ? '-0' : String(each) }
    if (each instanceof Map) return { [MARK]: 'Map', of: [...each] }
    if (!ArrayBuffer.isView(each)) return each
    const bytes = new Uint8Array(each.buffer, each.byteOffset, each.byteLength)
    const name = Buffer.isBuffer(each) ? 'Uint8Array' : each.constructor.name
    if (!Object.hasOwn(ARRAYS, name)) throw new Error(`a ${name} cannot be packed: add it to ARRAYS`)
    const place = { [MARK]: name, at, bytes: bytes.length }
    tail.push(bytes)
    at += bytes.length
    return place
  })
  return Buffer.concat([Buffer.from(`${Buffer.byteLength(text)}\n${text}`), ...tail])
}

type Marked = { readonly of: unknown; readonly at: number; readonly bytes: number; readonly [MARK]: string }

/** The value that was packed; its arrays of numbers are copies. The caller knows its type: the code that packed it is the same. */
export function unpack<Value>(packed: Uint8Array): Value {
  const lineEnd = packed.indexOf('\n'.charCodeAt(0)) + 1
  const decode = (from: number, to: number): string => new TextDecoder().decode(packed.subarray(from, to))
  const start = lineEnd + Number(decode(0, lineEnd))
  return JSON.parse(decode(lineEnd, start), (_, each: unknown) => {
    if (typeof each !== 'object' || each === null || !(MARK in each)) return each
    const { [MARK]: kind, of, at, bytes } = each as Marked // as `pack` writes it
    if (kind === 'number') return Number(of)
    if (kind === 'Map') return new Map(of as [unknown, unknown][])
    const copy = new Uint8Array(packed.subarray(start + at, start + at + bytes)) // `slice` of a Buffer copies nothing
    return new ARRAYS[kind as keyof typeof ARRAYS](copy.buffer)
  }) as Value
}
