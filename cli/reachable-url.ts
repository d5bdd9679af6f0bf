/** Who listens on every address of the machine has none by which to be called; `localhost` is one. */
export const toReachable = (boundUrl: string): string =>
  boundUrl.replace(/^http:\/\/(0\.0\.0\.0|\[::\])(?=:)/, 'http://localhost')
