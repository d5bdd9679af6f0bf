import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'
import { SAMPLE_AS_OF, SAMPLE_VERSION, writeSampleBook } from '#pipeline/sample/write-sample-book.ts'
import { currentVersionOf } from '#static-build/publish-version.ts'
import { assertApart, openStore } from '#storage/open-store.ts'
import { OTHER_BYTES_REMEDY } from '#storage/write-once.ts'
import { type BuildOrder, buildVersion } from '../build-version.ts'
import { dataFolder } from '../data-folder.ts'
import { type Environment, parseEnvironment } from '../environment.ts'
import { serveHistory } from '../serve-history.ts'
import type { Surroundings } from '../surroundings.ts'
import type { Terminal } from '../terminal.ts'
import { threadsFor } from '../threads.ts'

/** `highwater run`: the whole system on this machine, with the sample book where nothing is published yet. */
export function addRun(program: Command, surroundings: Surroundings): void {
  program
    .command('run')
    .description('build the sample book if nothing is published, and serve')
    .addHelpText('after', '\nExample:\n  highwater run')
    .action(() => run(surroundings))
}

async function run(surroundings: Surroundings): Promise<void> {
  const terminal = surroundings.terminal(false)
  const environment = parseEnvironment(surroundings.env, dataFolder(surroundings.root))
  await assertApart(environment.storeUrl, environment.privateStoreUrl)
  await publishSampleOnce(environment, surroundings, terminal)
  const stopped = surroundings.untilStopped() // only now: until then a signal ends the process at once, as it does a build
  const service = await serveHistory(environment, surroundings, terminal.note)
  tellWhatToTry(service.url, terminal)
  await stopped
  terminal.note('stopping: running requests end first')
  await service.stop()
}

async function publishSampleOnce(
  environment: Environment,
  surroundings: Surroundings,
  terminal: Terminal,
): Promise<void> {
  const store = await openStore(environment.storeUrl, environment.s3)
  if ((await currentVersionOf(store)) !== null) return
  terminal.note(`nothing is published in ${environment.storeUrl}: building the sample book there`)
  // A folder of its own: two processes that begin at the same time must not write into each other's book.
  const book = await mkdtemp(join(tmpdir(), 'highwater-sample-'))
  try {
    await writeSampleBook(book)
    await buildVersion(sampleOrder(book, environment, surroundings), surroundings, terminal)
  } catch (error) {
    throw withRemedy(error, environment)
  } finally {
    await rm(book, { recursive: true, force: true })
  }
}

/** The sample has one version for ever, so what other code left of it has to go. */
function withRemedy(error: unknown, { storeUrl, privateStoreUrl }: Environment): unknown {
  if (!(error instanceof Error) || !error.message.includes(OTHER_BYTES_REMEDY)) return error
  const remedy =
    `another state of the code began to build the sample there: remove ${storeUrl} and ${privateStoreUrl} (\`make clean\` ` +
    'does where they lie in .data), and run the command again'
  return new Error(error.message.replace(OTHER_BYTES_REMEDY, remedy), { cause: error })
}

const sampleOrder = (
  book: string,
  { storeUrl, privateStoreUrl, s3 }: Environment,
  { cores }: Surroundings,
): BuildOrder => ({
  book,
  storeUrl,
  privateStoreUrl,
  s3,
  version: SAMPLE_VERSION,
  asOf: SAMPLE_AS_OF,
  allowStale: false,
  allowRestatement: false,
  threads: threadsFor(cores),
})

function tellWhatToTry(url: string, { print }: Terminal): void {
  print(`history service on ${url}`)
  print('')
  print('try:')
  print(`  curl ${url}/v1/strategies`)
  print(`  curl '${url}/v1/strategies/alder/stats?risk_pct=0.01'`)
  print(`  curl '${url}/v1/export?format=csv'`)
  print(`  ${url}/openapi.json describes every endpoint; Ctrl-C stops everything`)
}
