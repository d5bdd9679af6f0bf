/** Runs at most so many works at a time, in the order of the calls. */
export function createLimit(most: number) {
  const waiting: (() => void)[] = []
  let running = 0
  return async <Value>(work: () => Promise<Value>): Promise<Value> => {
    if (running < most) running++
    else await new Promise<void>(resolve => waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next === undefined) running--
      else next() // passes its place on
    }
  }
}
