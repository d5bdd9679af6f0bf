// A growing run of UTF-8 bytes. Answers are mostly ASCII digits, which are written as character codes; a string per
// number would cost more than the number.

export type ByteWriter = {
  bytes: Uint8Array<ArrayBuffer>
  /** The same memory, for stores of several bytes. */
  view: DataView<ArrayBuffer>
  length: number
}

const encoder = new TextEncoder()

export function createWriter(capacity: number): ByteWriter {
  const bytes = new Uint8Array(capacity)
  return { bytes, view: new DataView(bytes.buffer), length: 0 }
}

/** What was written, in a buffer of just its size: caches count bytes, and must not keep the slack as well. */
export const finish = (writer: ByteWriter): Uint8Array<ArrayBuffer> => writer.bytes.slice(0, writer.length)

/** As much as nearly every answer takes; memory that is new each time costs as much as writing to it. */
const DESK_BYTES = 1 << 20

const desk = createWriter(DESK_BYTES)

/**
 * What `write` has written. One desk serves all, because nothing is ever interrupted here; an answer that outgrows it
 * takes memory of its own.
 */
export function written(write: (out: ByteWriter) => void): Uint8Array<ArrayBuffer> {
  const out = { ...desk, length: 0 }
  write(out)
  return finish(out)
}

/** Makes room for `count` more bytes. Every writing function calls it once for the most that it may write. */
export function reserve(writer: ByteWriter, count: number): void {
  const needed = writer.length + count
  if (needed > writer.bytes.length) grow(writer, needed)
}

function grow(writer: ByteWriter, needed: number): void {
  const grown = createWriter(Math.max(needed, writer.bytes.length * 2))
  grown.bytes.set(writer.bytes.subarray(0, writer.length))
  writer.bytes = grown.bytes
  writer.view = grown.view
}

/** Writes bytes as they are. */
export function writeBytes(writer: ByteWriter, bytes: Uint8Array): void {
  reserve(writer, bytes.length)
  writer.bytes.set(bytes, writer.length)
  writer.length += bytes.length
}

/** Writes any text as UTF-8. */
export function writeText(writer: ByteWriter, text: string): void {
  reserve(writer, text.length * 3) // a UTF-16 unit is at most three bytes
  writer.length += encoder.encodeInto(text, writer.bytes.subarray(writer.length)).written
}

/** Writes text that holds ASCII only, such as the digits of a number. */
export function writeAscii(writer: ByteWriter, text: string): void {
  reserve(writer, text.length)
  for (let i = 0; i < text.length; i++) writer.bytes[writer.length++] = text.charCodeAt(i)
}

/** The UTF-8 bytes of a text that is written many times. */
export const toBytes = (text: string): Uint8Array => encoder.encode(text)
