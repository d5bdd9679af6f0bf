import type { Command } from 'commander'
import { assertApart } from '#storage/open-store.ts'
import { dataFolder } from '../data-folder.ts'
import { parseEnvironment } from '../environment.ts'
import { serveHistory } from '../serve-history.ts'
import type { Surroundings } from '../surroundings.ts'

const EXAMPLES = `
Examples:
  highwater serve history
  STORE_URL=file:///var/lib/highwater HISTORY_PORT=9000 highwater serve history`

/** `highwater serve history`: serves what is published, until it is asked to end. */
export function addServe(program: Command, surroundings: Surroundings): void {
  const serve = program.command('serve').description('serve what is published')
  serve
    .command('history')
    .description('the open history service')
    .addHelpText('after', EXAMPLES)
    .action(() => runHistory(surroundings))
}

async function runHistory(surroundings: Surroundings): Promise<void> {
  const { env, root, now, elapsed } = surroundings
  const terminal = surroundings.terminal(false)
  const environment = parseEnvironment(env, dataFolder(root))
  await assertApart(environment.storeUrl, environment.privateStoreUrl)
  const stopped = surroundings.untilStopped() // who reads the address below may send a signal at once
  const service = await serveHistory(environment, { now, elapsed }, terminal.note)
  terminal.print(`history service on ${service.url}`)
  await stopped
  terminal.note('stopping: running requests end first')
  await service.stop()
}
