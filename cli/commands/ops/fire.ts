import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { dataFolder, parseEnvironment, UsageError } from '../../environment.ts'
import { createOperatorClient } from '../../operator-client.ts'
import type { Runtime } from '../../runtime.ts'
import { addQuestion, linesOf, segment } from './ask.ts'
import { assertReadable } from './assert-readable.ts'

const EXAMPLES = `
FILE holds the signal as JSON: signal_id, alias, action (long, short, flat), signal_price, stop, base_risk_pct, timestamp,
and mode DRY_RUN where it is not meant. The same signal_id again is the same signal: repeat the command when in doubt.

Example:
  highwater ops fire signal.json`

/** `highwater ops fire` and `test`. */
export function addFire(ops: Command, runtime: Runtime): void {
  ops
    .command('fire <file>')
    .description('fire the signal that stands in a file')
    .option('--json', 'print the answer as one JSON document')
    .addHelpText('after', EXAMPLES)
    .action(async (file: string, { json = false }: { readonly json?: boolean }) => {
      const { env, root, cwd } = runtime
      const signal = parseSignal(await readFile(await assertReadable(resolve(cwd, file)), 'utf8'), file)
      const ask = await createOperatorClient(
        parseEnvironment(env, dataFolder(root, env)),
        dataFolder(root, env),
      )
      const answer = await ask('POST', '/ops/signals', signal)
      const terminal = runtime.terminal
      if (json) terminal.json(answer)
      else for (const line of linesOf(answer as Record<string, unknown>)) terminal.print(line) // `data` of a fire
    })
  addQuestion(ops, runtime, 'test <client>', 'fire a test signal to one client', ['test acme']).asks(
    client => ({
      method: 'POST',
      path: `/ops/clients/${segment(client)}/test`,
    }),
  )
}

function parseSignal(text: string, file: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) throw new UsageError(`${file} is not JSON: ${error.message}`)
    throw error
  }
}
