export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** The code of a system error, such as ENOENT; undefined if it has none. */
export const codeOf = (error: unknown): unknown =>
  typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined

export const isMissing = (error: unknown): boolean => codeOf(error) === 'ENOENT'

/** The result, or `otherwise` if the file or the folder is missing. */
export const ifThere = <Found, Otherwise>(
  found: Promise<Found>,
  otherwise: Otherwise,
): Promise<Found | Otherwise> =>
  found.catch((error: unknown) => {
    if (isMissing(error)) return otherwise
    throw error
  })

/** An error for a log: with its stack, unless it says what the system below could not do. */
export const textForLog = (error: unknown): string =>
  error instanceof Error && !isOfSystem(error) ? (error.stack ?? error.message) : messageOf(error)

const isOfSystem = (error: unknown): boolean =>
  /^E[A-Z0-9]+$/.test(String(codeOf(error))) || (error instanceof Error && isOfSystem(error.cause))

/**
 * The one way to drop an error: `tolerate(promise, 'why it does not matter')`. It is still printed on stderr.
 * Resolves when the promise has ended, however that was.
 */
export const tolerate = (promise: Promise<unknown>, why: string): Promise<void> =>
  promise.then(
    () => {},
    (error: unknown) => {
      console.error(`tolerated (${why}): ${messageOf(error)}`)
    },
  )
