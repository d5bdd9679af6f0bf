/** The command was called wrongly: exit code 2, without a stack. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'UsageError'
  }
}
