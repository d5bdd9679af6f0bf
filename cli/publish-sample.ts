import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SAMPLE_AS_OF, SAMPLE_VERSION, writeSampleBook } from '#pipeline/sample/write-sample-book.ts'
import { OTHER_BYTES_REMEDY } from '#storage/write-once.ts'
import { type BuildOrder, buildVersion } from './build-version.ts'
import type { Environment } from './environment.ts'
import { NO_CONSENT } from './signing-options.ts'
import type { Surroundings } from './surroundings.ts'
import type { Terminal } from './terminal.ts'
import { threadsFor } from './threads.ts'

/** Builds the sample book and publishes it as the one version that it has. */
export async function publishSample(
  environment: Environment,
  surroundings: Surroundings,
  terminal: Terminal,
): Promise<void> {
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
  { storeUrl, privateStoreUrl, s3, signals, operations }: Environment,
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
  consent: NO_CONSENT,
  redisUrl: null, // nobody ran the sample live
  alertWays: signals,
  threads: threadsFor(cores),
  effort: operations.buildEffort,
})
