/** The code of an error of the system below, such as ENOENT; undefined where it has none. */
export const codeOf = (error: unknown): unknown =>
  typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
