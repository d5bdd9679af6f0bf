/** Room for so many tasks at a time. */
export type Slots = {
  /** Begins a task as soon as there is room, and resolves then: who hands in tasks is held up, and not by their length. */
  readonly begin: (task: () => Promise<void>) => Promise<void>
  /** Begins a task at once where there is room; else does nothing, and gives false. */
  readonly tryBegin: (task: () => Promise<void>) => boolean
  /** Resolves when no task runs. */
  readonly idle: () => Promise<void>
}

/** Room for `most` tasks. A task must not reject. */
export function createSlots(most: number): Slots {
  const running = new Set<Promise<void>>()
  const start = (task: () => Promise<void>): void => {
    const run: Promise<void> = task().finally(() => running.delete(run))
    running.add(run)
  }
  return {
    async begin(task) {
      while (running.size >= most) await Promise.race(running)
      start(task)
    },
    tryBegin(task) {
      if (running.size >= most) return false
      start(task)
      return true
    },
    async idle() {
      while (running.size > 0) await Promise.all(running)
    },
  }
}
