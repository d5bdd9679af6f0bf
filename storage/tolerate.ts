/**
 * The one spelling of dropping an error: `tolerate(promise, 'why it does not matter')`. It is still told, on stderr.
 */
export function tolerate(promise: Promise<unknown>, why: string): void {
  promise.catch((error: unknown) => {
    console.error(`tolerated (${why}): ${error instanceof Error ? error.message : String(error)}`)
  })
}
