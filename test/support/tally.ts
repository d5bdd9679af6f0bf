/** Counts, and tells who waits for a count. */
export type Tally = {
  /** Gives how many there were with this one. */
  add(): number
  /** Resolves with the so-manieth, or when nobody will be counted any more. */
  reached(count: number): Promise<void>
  /** All who wait go on. */
  release(): void
  restart(): void
}

export function createTally(): Tally {
  let [count, isOver] = [0, false]
  let waiting: { readonly count: number; readonly goOn: () => void }[] = []
  const look = (): void => {
    const ready = waiting.filter(each => isOver || each.count <= count)
    waiting = waiting.filter(each => !ready.includes(each))
    for (const { goOn } of ready) goOn()
  }
  return {
    add() {
      count++
      look()
      return count
    },
    reached: asked =>
      new Promise(goOn => {
        waiting.push({ count: asked, goOn })
        look()
      }),
    release() {
      isOver = true
      look()
    },
    restart() {
      ;[count, isOver] = [0, false]
    },
  }
}
