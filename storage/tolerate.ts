/**
 * The one way to drop an error: `tolerate(promise, 'why it does not matter')`. It is still printed on stderr.
 * Resolves when the promise has ended, however that was.
 */
export const tolerate = (promise: Promise<unknown>, why: string): Promise<void> =>
  promise.then(
    () => {},
    (error: unknown) => {
      console.error(`tolerated (${why}): ${error instanceof Error ? error.message : String(error)}`)
    },
  )
