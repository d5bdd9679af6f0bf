/**
 * A published object that is missing, altered or of another form: the store itself answers, so trying again
 * does not help. An outage is a StoreError, and never this.
 */
export class UnreadableError extends Error {
  override readonly name = 'UnreadableError'
}
