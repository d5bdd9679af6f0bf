export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** The code of a system error, such as ENOENT; undefined if it has none. */
export const codeOf = (error: unknown): unknown => Object(error).code

export const isMissing = (error: unknown): boolean => codeOf(error) === 'ENOENT'

/** The result, or `otherwise` if the file or the folder is missing. */
export const ifThere = <Found, Otherwise>(found: Promise<Found>, otherwise: Otherwise) =>
  found.catch((error: unknown) => {
    if (isMissing(error)) return otherwise
    throw error
  })

/** An error for a log: with its stack, unless it says what the system below could not do. */
export const textForLog = (error: unknown): string =>
  error instanceof Error && !isOfSystem(error) ? (error.stack ?? error.message) : messageOf(error)

const isOfSystem = (error: unknown): boolean =>
  /^E[A-Z0-9]+$/.test(String(codeOf(error))) || (error instanceof Error && isOfSystem(error.cause))

/** The one way to drop an error: `tolerate(promise, 'why it does not matter')`. Prints it; resolves when the promise has ended. */
export const tolerate = (promise: Promise<unknown>, why: string): Promise<void> =>
  promise.then(
    () => {},
    (error: unknown) => console.error(`tolerated (${why}): ${messageOf(error)}`),
  )

const FULL = (url: string): string =>
  `free space on the disk of ${url}, as with \`highwater prune\`, and run the command again`
const FORBIDDEN = (url: string): string =>
  `give the user that runs this the right to do that in ${url}, and run the command again`

/** What an operator can do about an error of the file system, as the end of a sentence. */
const REMEDIES: Readonly<Record<string, (url: string) => string>> = {
  ENOSPC: FULL,
  EDQUOT: FULL,
  EFBIG: url =>
    `the file is larger than the limit of this process or of the disk of ${url}: raise it (see ulimit -f), and ` +
    'run the command again',
  EACCES: FORBIDDEN,
  EPERM: FORBIDDEN,
  EROFS: url => `the disk of ${url} is read-only: mount it for writing, or name another folder`,
  ENOENT: () => 'create what is missing, or correct its name',
  ENOTDIR: () => 'a file is where a folder should be, so remove it or name another folder',
  EEXIST: () => 'remove it, or name another one',
  EMFILE: () =>
    'too many files are open: raise the limit of this process (see ulimit -n), or use fewer --threads',
}

export function withRemedy(error: unknown, url: string): unknown {
  const remedy = REMEDIES[String(codeOf(error))]
  if (remedy === undefined || !(error instanceof Error)) return error
  return new Error(`${error.message}; ${remedy(url)}`, { cause: error })
}

/** An error of the file system with what to do about it; any other as it is. */
export const remedied = (error: unknown): unknown =>
  error instanceof Error && 'path' in error ? withRemedy(error, String(error.path)) : error

/** Whether an error, or its cause, is a full disk. */
export const isFull = (error: unknown): boolean =>
  REMEDIES[String(codeOf(error))] === FULL || (error instanceof Error && isFull(error.cause))
