type Chunk = Uint8Array<ArrayBuffer>

/** A row of chunks whose beginning may be let go. */
export type HeldChunks = {
  readonly add: (chunk: Chunk) => void
  /** The chunk of this number, counted from the first that ever was; undefined where it is not there. */
  readonly at: (number: number) => Chunk | undefined
  /** Lets go of all before this number. */
  readonly letGo: (number: number) => void
  readonly heldBytes: () => number
  /** Of all that ever were. */
  readonly addedBytes: () => number
  /** Whether all that ever were are still there. */
  readonly isWhole: () => boolean
  /** All that are there in one piece, which takes their place: they are not held twice. */
  readonly join: () => Chunk
}

export function createHeldChunks(): HeldChunks {
  let chunks: Chunk[] = []
  let gone = 0
  let goneBytes = 0
  let addedBytes = 0
  return {
    add(chunk) {
      chunks.push(chunk)
      addedBytes += chunk.length
    },
    at: number => chunks[number - gone],
    letGo(number) {
      for (const chunk of chunks.splice(0, number - gone)) {
        gone++
        goneBytes += chunk.length
      }
    },
    heldBytes: () => addedBytes - goneBytes,
    addedBytes: () => addedBytes,
    isWhole: () => gone === 0,
    join() {
      const joined = Buffer.concat(chunks)
      let end = 0
      chunks = chunks.map(({ length }) => {
        end += length
        return joined.subarray(end - length, end)
      })
      return joined
    },
  }
}
