import { syncBuiltinESMExports } from 'node:module'

/**
 * Takes from a thread what a strategy module must not have. What it prints goes to stderr, because stdout
 * belongs to the command's result. Ending the thread is refused: the pool would wait for it for ever.
 */
export function fenceThread(): void {
  Object.defineProperty(process, 'stdout', { value: process.stderr })
  Object.defineProperty(process, 'env', { value: {} })
  const leave = process.exit
  process.exit = () => {
    throw new Error('it called process.exit(): a strategy module must leave the process alone')
  }
  syncBuiltinESMExports() // `import { exit, env } from 'node:process'` is fenced too
  // Node itself calls process.exit() after an uncaught error.
  process.on('uncaughtExceptionMonitor', () => {
    process.exit = leave
  })
}
