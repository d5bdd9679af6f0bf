/**
 * Runs `run` on every item in order, on at most `lanes` at a time, and returns the results in the order in which they
 * came. After a failure nothing new is begun; what is under way ends first, and then the first error is thrown.
 */
export async function inLanes<Item, Result>(
  items: readonly Item[],
  lanes: number,
  run: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  const failures: unknown[] = []
  const rest = items.values() // shared: each lane takes the next
  const drive = async (): Promise<void> => {
    for (const item of rest) {
      if (failures.length > 0) return
      try {
        results.push(await run(item))
      } catch (error) {
        failures.push(error)
      }
    }
  }
  await Promise.all(Array.from({ length: lanes }, drive))
  if (failures.length > 0) throw failures[0]
  return results
}
