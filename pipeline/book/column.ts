/** A column of numbers of unknown length while its file is read. */
export type Column = {
  push(value: number): void
  /** The values on a SharedArrayBuffer, so that worker threads read them without a copy. The column is empty then. */
  toShared(): Float64Array
}

/** Blocks instead of one array that doubles: nothing is copied while it grows. Half a megabyte each. */
const BLOCK_VALUES = 1 << 16

export function createColumn(): Column {
  let full: Float64Array[] = []
  let block = new Float64Array(BLOCK_VALUES)
  let used = 0

  return {
    push(value) {
      if (used === BLOCK_VALUES) {
        full.push(block)
        block = new Float64Array(BLOCK_VALUES)
        used = 0
      }
      block[used] = value
      used += 1
    },
    toShared() {
      const length = full.length * BLOCK_VALUES + used
      const values = new Float64Array(new SharedArrayBuffer(length * Float64Array.BYTES_PER_ELEMENT))
      for (const [i, source] of full.entries()) values.set(source, i * BLOCK_VALUES)
      values.set(block.subarray(0, used), full.length * BLOCK_VALUES)
      full = []
      used = 0
      return values
    },
  }
}
